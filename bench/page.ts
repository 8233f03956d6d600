export function writeReport(): void {}
