/** The parts of the screen of a policy. Each is loaded when it is first shown, because a visit needs one tab and few dialogs. */
import { createPart } from '../../components/LazyPart.tsx';
import type { AssignModalProps } from './AssignModal.tsx';
import type { AssignmentsTabProps } from './AssignmentsTab.tsx';
import type { AssumedAssignmentProps } from './AssumedAssignment.tsx';
import type { AssumedChangesProps } from './AssumedChanges.tsx';
import type { DeletePolicyProps } from './DeletePolicy.tsx';
import type { FindingsTabProps } from './FindingsTab.tsx';
import type { HistoryTabProps } from './HistoryTab.tsx';
import type { KeptDraftAlertProps } from './KeptDraftAlert.tsx';
import type { MergeModalProps } from './MergeModal.tsx';
import type { TextTabProps } from './PolicyTextEditor.tsx';
import type { PreviewTabProps } from './PreviewTab.tsx';
import type { RevokeModalProps } from './RevokeModal.tsx';
import type { RollbackModalProps } from './RollbackModal.tsx';
import type { RuleFormProps } from './RuleForm.tsx';
import type { DraftTabProps } from './RulesTab.tsx';
import type { SaveModalProps } from './SaveModal.tsx';

/** The rules as forms. */
export const rulesTab = createPart<DraftTabProps>(async () => (await import('./RulesTab.tsx')).RulesTab);

/** The form of one rule, with its conditions. */
export const ruleForm = createPart<RuleFormProps>(async () => (await import('./RuleForm.tsx')).RuleForm);

/** The draft as text, with the editor and the parser of YAML. */
export const textTab = createPart<TextTabProps>(async () => (await import('./PolicyTextEditor.tsx')).PolicyTextEditor);

/** The replay of recorded decisions under the draft. */
export const previewTab = createPart<PreviewTabProps>(async () => (await import('./PreviewTab.tsx')).PreviewTab);

/** The assumed assignment of a new policy. */
export const assumedAssignment = createPart<AssumedAssignmentProps>(
  async () => (await import('./AssumedAssignment.tsx')).AssumedAssignment,
);

/** The permissions that a new policy changes. */
export const assumedChanges = createPart<AssumedChangesProps>(async () => (await import('./AssumedChanges.tsx')).AssumedChanges);

/** The offer of unsaved changes of an earlier page. */
export const keptDraftAlert = createPart<KeptDraftAlertProps>(async () => (await import('./KeptDraftAlert.tsx')).KeptDraftAlert);

/** The assignments. */
export const assignmentsTab = createPart<AssignmentsTabProps>(async () => (await import('./AssignmentsTab.tsx')).AssignmentsTab);

/** The dialog that assigns a policy, or changes the expiry of an assignment. */
export const assignDialog = createPart<AssignModalProps>(async () => (await import('./AssignModal.tsx')).AssignModal);

/** The dialog that revokes an assignment. */
export const revokeDialog = createPart<RevokeModalProps>(async () => (await import('./RevokeModal.tsx')).RevokeModal);

/** The earlier versions. */
export const historyTab = createPart<HistoryTabProps>(async () => (await import('./HistoryTab.tsx')).HistoryTab);

/** The dialog that restores a version. */
export const rollbackDialog = createPart<RollbackModalProps>(async () => (await import('./RollbackModal.tsx')).RollbackModal);

/** The findings. */
export const findingsTab = createPart<FindingsTabProps>(async () => (await import('./FindingsTab.tsx')).FindingsTab);

/** The dialog that saves a draft. */
export const saveDialog = createPart<SaveModalProps>(async () => (await import('./SaveModal.tsx')).SaveModal);

/** The dialog that merges a draft with a newer version. */
export const mergeDialog = createPart<MergeModalProps>(async () => (await import('./MergeModal.tsx')).MergeModal);

/** The dialog that deletes a policy. */
export const deleteDialog = createPart<DeletePolicyProps>(async () => (await import('./DeletePolicy.tsx')).DeletePolicy);
