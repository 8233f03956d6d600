/** The condition of an owner, in the measurements of lists. */
export const isOwn = { field: 'resource.ownerId', operator: 'eq', value: '${user.id}' };

/** The condition of a member of the organisation of a document. */
export const isMember = {
  related: {
    resource: 'Membership',
    as: 'm',
    on: { userId: '${user.id}', organisationId: '${resource.organisationId}' },
    where: [{ field: 'm.level', operator: 'in', value: ['owner', 'editor'] }],
  },
};
