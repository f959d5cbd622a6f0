package tui

// wideWidth is where activity and todos move beside the transcript; up to there they stand below it.
const wideWidth = 110

// splitWidth is from where on old and new stand beside each other in a diff.
const splitWidth = 120
