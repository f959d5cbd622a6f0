package proc

// Watch is told what a command changes below a folder, as far as the kernel tells. All of it may be
// called from any goroutine.
type Watch struct {
	Root  string                        // absolute and free of links
	Seen  func()                        // from now on Wrote is told; where it is not called, nobody knows what the command changes
	Wrote func(path string, below bool) // relative to Root, before it is changed; below: all that stands below it, too
	Ended func()                        // nothing of the command is left
}

func (w *Watch) seen() {
	if w != nil && w.Seen != nil {
		w.Seen()
	}
}

func (w *Watch) wrote(path string, below bool) {
	if w != nil && w.Wrote != nil {
		w.Wrote(path, below)
	}
}

func (w *Watch) over() {
	if w != nil && w.Ended != nil {
		w.Ended()
	}
}
