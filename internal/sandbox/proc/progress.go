package proc

import "time"

// Defaults of Command: at most 20 live views a second, each about a screen of text.
const (
	DefaultProgressEvery = 50 * time.Millisecond
	DefaultProgressTail  = 4 << 10
)

// Progress is a live view of a running command: the end of its output and exact counts so far.
type Progress struct {
	Tail  string
	Bytes int64
	Lines int64
}

// pulse calls a function with the newest output, soon after the first write and then at most once
// per interval. It runs apart from the reader, so a slow function delays only itself.
type pulse struct {
	call  func(Progress)
	every time.Duration
	size  int
	out   *Output

	dirty chan struct{}
	quit  chan struct{}
	ended chan struct{}
}

func newPulse(c Command, out *Output) *pulse {
	p := &pulse{
		call: c.Progress, every: c.ProgressEvery, size: c.ProgressTail, out: out,
		dirty: make(chan struct{}, 1), quit: make(chan struct{}), ended: make(chan struct{}),
	}
	if p.every == 0 {
		p.every = DefaultProgressEvery
	}
	if p.size == 0 {
		p.size = DefaultProgressTail
	}
	return p
}

func (p *pulse) beat() {
	select {
	case p.dirty <- struct{}{}:
	default:
	}
}

func (p *pulse) run() {
	defer close(p.ended)
	for {
		select {
		case <-p.quit:
			p.flush()
			return
		case <-p.dirty:
			p.call(p.out.Last(p.size))
		}
		select {
		case <-p.quit:
			p.flush()
			return
		case <-time.After(p.every):
		}
	}
}

// flush delivers output since the last call, so that the last view shows the final state.
func (p *pulse) flush() {
	select {
	case <-p.dirty:
		p.call(p.out.Last(p.size))
	default:
	}
}

// stop ends the calls and waits for the last one.
func (p *pulse) stop() {
	close(p.quit)
	<-p.ended
}
