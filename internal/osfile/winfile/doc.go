// Package winfile opens Windows files relative to a folder handle, like openat elsewhere: no path
// element is looked up twice, and no link or junction is followed. It is empty on other systems.
//
// Start reading at Open.
package winfile
