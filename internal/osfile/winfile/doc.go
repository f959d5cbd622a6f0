// Package winfile reaches files on Windows by the handle of their folder, as openat does elsewhere:
// no name on the way is looked up twice, and no link or junction is followed. It is empty on other
// systems.
//
// Start reading at Open.
package winfile
