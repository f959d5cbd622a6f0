// Package visibility looks at folders for one command: where paths lead, and which names there are.
// Each path is looked at once.
//
// The one rule: what a Glance tells is how things are at the time of that glance. Marks say later
// whether they still are.
//
// Start reading at Glance.
package visibility
