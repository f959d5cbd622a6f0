package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/lineread"
	"adze/internal/proc"
)

// Bounds of a program's words.
const (
	// maxFrame is the longest message, in bytes.
	maxFrame = 4 << 20
	// maxNoise is how many bytes that are no messages a program may write.
	maxNoise = 8 << 20
	// maxUnasked is how many messages may come between two of ours within floodTime: a long call
	// may tell its progress.
	maxUnasked = 10_000
	floodTime  = 10 * time.Second
	// maxMemory is what a program and all below it may hold, in bytes.
	maxMemory = 2 << 30
	// errorRing is what is kept of standard error, in bytes.
	errorRing = 8 << 10
)

// stdio starts a server's program and talks over its pipes.
func (p *Pool) stdio(ctx context.Context, s Server, use func(sdk.Transport)) error {
	life, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	talked := make(chan struct{})
	var wire *lines
	process, err := p.opts.Supervisor.Start(life, proc.Command{
		Argv: s.Command, Dir: cmp.Or(s.Dir, p.opts.Dir), Env: s.environ(p.environ()), Tag: "mcp-" + s.Name, Head: 1 << 10, Tail: errorRing,
		Memory: maxMemory, Outside: s.Outside, Reach: p.opts.Reach, Named: append(slices.Clone(s.Command), s.Dir),
		Talk: func(in io.WriteCloser, out io.Reader) {
			defer close(talked)
			wire = newLines(in, out, &p.servers[s.Name].noise)
			use(wire.transport())
			wire.close(io.ErrClosedPipe)
		},
	})
	if err != nil {
		return &startError{err}
	}
	p.runs(s.Name, process)
	<-talked
	select { // standard input is closed now, which asks it to end
	case <-process.Done():
	case <-time.After(politeTime):
	}
	kill()
	r := process.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return errors.New(strings.TrimSpace(wire.broke() + lastWords(r)))
}

// environ is the environment of programs.
func (p *Pool) environ() []string {
	if p.opts.Env == nil {
		return nil
	}
	return p.opts.Env()
}

// environ is the environment of a server's program.
func (s Server) environ(base []string) []string {
	out := slices.Clone(base)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		out = append(out, name+"="+s.Env[name])
	}
	return out
}

// runs notes the process of a server.
func (p *Pool) runs(name string, process *proc.Process) {
	v := p.servers[name]
	v.mu.Lock()
	defer v.mu.Unlock()
	v.pid, v.errs = process.PID(), process.Errors()
}

// lastWords is how a program ended, with the last line of its standard error.
func lastWords(r proc.Result) string {
	words := strings.TrimSpace(cmp.Or(r.Errors.Tail, r.Errors.Head))
	if i := strings.LastIndexByte(words, '\n'); i >= 0 {
		words = words[i+1:]
	}
	out := fmt.Sprintf("exit code %d", r.Code)
	switch {
	case r.Killed == proc.TooMuchMemory:
		out = fmt.Sprintf("it took more than %d MiB of memory", maxMemory>>20)
	case r.Killed == proc.Aborted: // adze ended it: what came before is the cause
		out = "it was ended"
	case r.Signal != 0:
		out = "signal " + proc.SignalName(r.Signal)
	}
	if words != "" {
		out += ": " + Line(words, 300)
	}
	return out
}

// lines is a program's standard output as messages: lines that are none, such as a banner, are left
// out and counted.
type lines struct {
	in       io.WriteCloser
	messages *io.PipeReader
	pump     *io.PipeWriter
	noise    *atomic.Int64
	unasked  atomic.Int64
	cause    atomic.Pointer[string]
}

func newLines(in io.WriteCloser, out io.Reader, noise *atomic.Int64) *lines {
	l := &lines{in: in, noise: noise}
	l.messages, l.pump = io.Pipe()
	go l.run(lineread.New(out, maxFrame))
	return l
}

// transport is the wire as the library takes it.
func (l *lines) transport() sdk.Transport {
	return &sdk.IOTransport{Reader: l.messages, Writer: l, MaxLineLength: maxFrame + 1}
}

// Write sends; a message of ours makes room for theirs.
func (l *lines) Write(p []byte) (int, error) {
	l.unasked.Store(0)
	return l.in.Write(p)
}

// Close ends the conversation; the pipe itself is closed by who made it.
func (l *lines) Close() error {
	l.close(io.ErrClosedPipe)
	return nil
}

func (l *lines) close(why error) {
	_ = l.pump.CloseWithError(why)
	_ = l.messages.CloseWithError(why)
}

// broke is why nothing more is read; empty: the program ended.
func (l *lines) broke() string {
	if why := l.cause.Load(); why != nil {
		return *why + "; "
	}
	return ""
}

func (l *lines) run(from *lineread.Reader) {
	noisy, since := 0, time.Now()
	for {
		line, err := from.Next()
		if errors.Is(err, lineread.ErrLong) {
			line, err = nil, fmt.Errorf("it sent a message of more than %d MiB", maxFrame>>20)
		}
		line = bytes.TrimSpace(line)
		if time.Since(since) > floodTime {
			since = time.Now()
			l.unasked.Store(0)
		}
		switch {
		case len(line) == 0:
		case !message(line):
			l.noise.Add(1)
			if noisy += len(line); noisy > maxNoise {
				err = fmt.Errorf("it wrote more than %d MiB that are no messages", maxNoise>>20)
			}
		case l.unasked.Add(1) <= maxUnasked:
			if _, err := l.pump.Write(append(line, '\n')); err != nil {
				return
			}
		default:
			err = fmt.Errorf("it sent more than %d messages unasked", maxUnasked)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				why := err.Error()
				l.cause.CompareAndSwap(nil, &why)
			}
			l.close(io.EOF)
			return
		}
	}
}

// message reports whether a line is one, or several as older protocols let a server send them.
func message(line []byte) bool {
	return (line[0] == '{' || line[0] == '[') && json.Valid(line)
}
