package ui

// Wide is the width from which a list shows its preview beside the rows, not below.
const Wide = 110

// Side is the width from which todos, jobs and subagents have their own column.
const Side = 160

// Split is the width from which a diff shows old and new lines side by side.
const Split = 160

// Narrow is the width below which empty separator rows are omitted.
const Narrow = 60
