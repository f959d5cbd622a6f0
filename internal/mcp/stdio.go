package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp/wire"
	"adze/internal/sandbox/child"
	"adze/internal/sandbox/proc"
	"adze/internal/text/lineread"
)

// Bounds of a program's words.
const (
	maxFrame = wire.MaxFrame
	// maxNoise is how many bytes that are no messages a program may write.
	maxNoise = 8 << 20
	// maxUnasked is how many messages may come between two of ours within floodTime: a long call
	// may tell its progress.
	maxUnasked = 10_000
	floodTime  = 10 * time.Second
	// maxMessage is the longest message that a program may write: longer than wire.MaxRead it is
	// passed over and an error of its request, longer than this the program is ended.
	maxMessage = 64 << 20
	// errorRing is what is kept of standard error, in bytes.
	errorRing = keptLog
	// maxLastWords is how much is told of how a program ended, in bytes.
	maxLastWords = 400
)

// stdio starts a server's program and talks over its pipes.
func (p *Pool) stdio(ctx context.Context, s Server, use func(sdk.Transport)) error {
	at, err := p.whereToStart(s)
	if err != nil {
		return err
	}
	defer at.end()
	var talk *lines
	log := p.servers[s.Name].log
	r, err := child.Program{
		Supervisor: p.opts.Supervisor,
		Command: proc.Command{
			Argv: s.Command, Dir: at.dir, Own: at.own, Env: at.env, Tag: "mcp-" + s.Name, Head: 1 << 10, Tail: errorRing, Errors: log,
			Outside: s.Outside, Reach: p.opts.Reach, Named: append(slices.Clone(s.Command), s.Dir),
		},
		Polite: politeTime,
		Started: func(process *proc.Process) {
			log.note("%s started as process %d: %s", s.Name, process.PID(), strings.Join(s.Command, " "))
			p.runs(s.Name, process)
		},
		Went: func() bool { return talk.ended.Load() },
	}.Run(ctx, func(in io.WriteCloser, out io.Reader) {
		talk = newLines(in, out, p.opts.Probe, p.servers[s.Name])
		use(talk.transport())
		talk.close(io.ErrClosedPipe)
	})
	if err != nil {
		log.note("%s could not be started: %v", s.Name, err)
		return &startError{err}
	}
	if ctx.Err() != nil {
		log.note("%s was stopped", s.Name)
		return nil
	}
	words := Line(talk.broke()+child.LastWords(r), maxLastWords)
	log.note("%s ended: %s", s.Name, words)
	return &exitError{words: words, itself: r.Killed == "" && talk.broke() == "", launch: child.NotStarted(r)}
}

// exitError says how a program ended.
type exitError struct {
	words  string
	itself bool // nobody ended it
	launch bool // what was to be started is not there
}

func (e *exitError) Error() string { return e.words }

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

// lines is a program's standard output as messages: lines that are none, such as a banner, are left
// out and counted, and a message that is too long is cut.
type lines struct {
	in       io.WriteCloser
	writing  sync.Mutex // one message at a time
	messages *io.PipeReader
	pump     *io.PipeWriter
	server   *server
	hello    handshake
	unasked  atomic.Int64
	ended    atomic.Bool // the program closed its output
	cause    atomic.Pointer[string]
}

func newLines(in io.WriteCloser, out io.Reader, probe time.Duration, s *server) *lines {
	l := &lines{in: in, server: s}
	l.messages, l.pump = io.Pipe()
	l.hello = handshake{probe: probe, send: func(text []byte) { _, _ = l.send(text) }, deliver: func(text []byte) { l.give(text) }}
	go l.run(lineread.New(out, wire.MaxRead))
	return l
}

// transport is the wire as the library takes it.
func (l *lines) transport() sdk.Transport {
	return &sdk.IOTransport{Reader: l.messages, Writer: l, MaxLineLength: maxFrame + maxFrame/8}
}

// Write sends; a message of ours makes room for theirs.
func (l *lines) Write(p []byte) (int, error) {
	l.unasked.Store(0)
	if l.hello.out(p) {
		if _, err := l.send(p); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (l *lines) send(p []byte) (int, error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.in.Write(p)
}

// give hands a message to the library, as far as it still reads.
func (l *lines) give(text []byte) bool {
	_, err := l.pump.Write(append(wire.Read(text), '\n'))
	return err == nil
}

// Close ends the conversation; the pipe itself is closed by who made it.
func (l *lines) Close() error {
	l.close(io.ErrClosedPipe)
	return nil
}

func (l *lines) close(why error) {
	l.hello.end()
	_ = l.pump.CloseWithError(why)
	_ = l.messages.CloseWithError(why)
}

// broke is why nothing more is read; if empty, the program ended.
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
			line, err = passOver(line, from)
		}
		if len(line) > maxFrame {
			line = l.shorten(line)
		}
		line = bytes.TrimSpace(line)
		if time.Since(since) > floodTime {
			since = time.Now()
			l.unasked.Store(0)
		}
		switch {
		case len(line) == 0:
		case !message(line):
			l.server.noise.Add(1)
			if noisy += len(line); noisy > maxNoise {
				err = fmt.Errorf("it wrote more than %d MiB that are no messages", maxNoise>>20)
			}
		case l.unasked.Add(1) <= maxUnasked:
			for _, text := range l.hello.in(line) {
				if !l.give(text) {
					return
				}
			}
		default:
			err = fmt.Errorf("it sent more than %d messages unasked", maxUnasked)
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				l.ended.Store(true)
			} else {
				why := err.Error()
				l.cause.CompareAndSwap(nil, &why)
			}
			l.close(io.EOF)
			return
		}
	}
}

// shorten cuts a message to a frame. One that is none, or cannot be cut, stays and counts as noise.
func (l *lines) shorten(line []byte) []byte {
	short := wire.Shorten(line, maxFrame)
	if short == nil {
		return line[:maxFrame]
	}
	l.server.cuts.Add(1)
	return short
}

// passOver reads to the end of a message that is too long, and returns the error that answers its
// request instead.
func passOver(start []byte, from *lineread.Reader) ([]byte, error) {
	const tail = 400
	size, end := len(start), bytes.Clone(start[max(len(start)-tail, 0):])
	err := from.Rest(func(piece []byte) error {
		if size += len(piece); size > maxMessage {
			return fmt.Errorf("it sent a message of more than %d MiB", maxMessage>>20)
		}
		end = append(end, piece[max(len(piece)-tail, 0):]...)
		end = append(end[:0], end[max(len(end)-tail, 0):]...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if id := wire.IDOf(start, end); id != nil {
		return wire.TooLong(id), nil
	}
	return start[:maxFrame], nil
}

// message reports whether a line is one, or several as older protocols let a server send them.
func message(line []byte) bool {
	return (line[0] == '{' || line[0] == '[') && json.Valid(line)
}
