package proc

import "testing"

// TestAWatchEndsOnlyWhatStillWaits asks the watch in the order of its timer, without one.
func TestAWatchEndsOnlyWhatStillWaits(t *testing.T) {
	type look struct {
		pid   int
		wrote bool // the command writes after the look
	}
	for name, c := range map[string]struct {
		looks []look
		ends  bool
	}{
		"twice the same":           {[]look{{7, false}, {7, false}}, true},
		"once":                     {[]look{{7, false}, {0, false}}, false},
		"another the second time":  {[]look{{7, false}, {8, false}}, false},
		"it wrote between":         {[]look{{7, true}, {7, false}}, false},
		"it wrote, then is silent": {[]look{{7, true}, {7, false}, {7, false}}, true},
		"nobody":                   {[]look{{0, false}, {0, false}}, false},
	} {
		at, ended := 0, 0
		w := watchKeys(func() (int, string) { return c.looks[at].pid, "vim" }, func(string) { ended++ })
		w.timer.Stop()
		for at = range c.looks {
			w.check()
			w.timer.Stop()
			if c.looks[at].wrote {
				w.wrote()
				w.timer.Stop()
			}
		}
		if (ended == 1) != c.ends || ended > 1 {
			t.Errorf("%s: ended %d times", name, ended)
		}
		w.stop()
		w.check()
		w.wrote()
	}
	var none *keyWatch
	none.wrote()
	none.stop()
}
