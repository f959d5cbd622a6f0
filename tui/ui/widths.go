package ui

// Wide is where activity and todos move beside the transcript; up to there they stand below it.
const Wide = 110

// Split is from where on old and new stand beside each other in a diff.
const Split = 120

// Narrow is below where rows are spared that only set things apart.
const Narrow = 60
