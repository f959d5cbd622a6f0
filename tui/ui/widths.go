package ui

// Wide is where what a row of a list holds is shown beside the list; up to there below it.
const Wide = 110

// Side is from where on todos, jobs and subagents stand in a column beside the conversation, and
// then always.
const Side = 160

// Split is from where on old and new stand beside each other in a diff.
const Split = 160

// Narrow is below where rows are spared that only set things apart.
const Narrow = 60
