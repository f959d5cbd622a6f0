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
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp/wire"
	"adze/internal/sandbox/child"
	"adze/internal/sandbox/proc"
	"adze/internal/text/lineread"
)

// Limits of a program's output.
const (
	// maxNoise limits the bytes outside messages.
	maxNoise = 8 << 20
	// maxUnasked limits the messages between two of ours within floodTime. A long call may send
	// progress.
	maxUnasked = 10_000
	floodTime  = 10 * time.Second
	// maxLine ends the program. A line between wire.MaxMessage and maxLine is skipped and becomes
	// an error of its request.
	maxLine = 64 << 20
	// in bytes
	maxLastWords = 400
)

// startProgram starts a server's program and uses its pipes as the transport.
func (p *Pool) startProgram(ctx context.Context, s Server, use func(sdk.Transport)) error {
	at, err := p.whereToStart(s)
	if err != nil {
		return err
	}
	defer at.end()
	var conn *stdio
	v := p.servers[s.Name]
	log := v.log
	r, err := child.Program{
		Supervisor: p.opts.Supervisor,
		Command: proc.Command{
			Argv: s.Command, Dir: at.dir, OwnDir: at.own, Env: at.env, Tag: "mcp-" + s.Name, Head: 1 << 10, Tail: keptLog, Errors: log,
			NoWalls: s.Unsandboxed, Reach: p.opts.Reach, UserWords: append(slices.Clone(s.Command), s.Dir),
		},
		Polite: politeTime,
		Started: func(process *proc.Process) {
			log.note("%s"+startedAs+"%d: %s", s.Name, process.PID(), strings.Join(s.Command, " "))
			v.mu.Lock()
			defer v.mu.Unlock()
			v.pid = process.PID()
		},
		Closed: func() bool { return conn.ended.Load() },
	}.Run(ctx, func(in io.WriteCloser, out io.Reader) {
		conn = newStdio(in, out, v)
		use(conn)
		_ = conn.Close()
	})
	if err != nil {
		log.note("%s could not be started: %v", s.Name, err)
		return &startError{err}
	}
	if ctx.Err() != nil {
		log.note("%s was stopped", s.Name)
		return nil
	}
	words := Line(conn.broke()+child.LastWords(r), maxLastWords)
	log.note("%s ended: %s", s.Name, words)
	return errors.New(words)
}

func (p *Pool) environ() []string {
	if p.opts.Env == nil {
		return nil
	}
	return p.opts.Env()
}

func (s Server) environ(base []string) []string {
	out := slices.Clone(base)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		out = append(out, name+"="+s.Env[name])
	}
	return out
}

// stdio is the transport to a program. It passes on the lines that are messages: it counts others,
// such as a banner, and turns an oversized line into an error of its request.
type stdio struct {
	sdk.IOTransport
	server   *server
	in       io.Writer
	messages *io.PipeReader
	unasked  atomic.Int64 // messages since our last one
	ended    atomic.Bool  // the program closed its output
	cause    atomic.Pointer[string]
}

func newStdio(in io.Writer, out io.Reader, s *server) *stdio {
	messages, lines := io.Pipe()
	c := &stdio{server: s, in: in, messages: messages}
	c.IOTransport = sdk.IOTransport{Reader: messages, Writer: c, MaxLineLength: -1}
	go func() {
		c.readLines(lineread.New(out, wire.MaxMessage), lines)
		lines.Close()
	}()
	return c
}

// Write passes a message to the program. It resets the flood counter.
func (c *stdio) Write(message []byte) (int, error) {
	c.unasked.Store(0)
	return c.in.Write(message)
}

// Close ends the connection. The pipe's owner closes the pipe.
func (c *stdio) Close() error { return c.messages.Close() }

// broke returns why reading stopped, or "" if the program exited.
func (c *stdio) broke() string {
	if why := c.cause.Load(); why != nil {
		return *why + "; "
	}
	return ""
}

// readLines reads the program's output until its end or a limit.
func (c *stdio) readLines(from *lineread.Reader, to io.Writer) {
	noisy, since := 0, time.Now()
	for {
		line, err := from.Next()
		if errors.Is(err, lineread.ErrLong) {
			line, err = passOver(line, from)
		}
		line = bytes.Trim(line, " \t\r\n\ufeff") // some servers begin with a byte order mark
		if time.Since(since) > floodTime {
			since = time.Now()
			c.unasked.Store(0)
		}
		messages := decode(line)
		switch {
		case err != nil, len(line) == 0:
		case len(messages) == 0:
			c.server.noise.Add(1)
			c.server.log.line(line)
			if noisy += len(line); noisy > maxNoise {
				err = fmt.Errorf("it wrote more than %d MiB that are no messages", maxNoise>>20)
			}
		case c.unasked.Add(1) > maxUnasked:
			err = fmt.Errorf("it sent more than %d messages unasked", maxUnasked)
		}
		switch {
		case errors.Is(err, io.EOF):
			c.ended.Store(true)
			return
		case err != nil:
			why := err.Error()
			c.cause.CompareAndSwap(nil, &why)
			return
		}
		for _, message := range messages {
			if _, err := to.Write(append(message, '\n')); err != nil {
				return // closed
			}
		}
	}
}

// decode returns a line's message, or each of a batch as in older protocols, or none for any other
// line.
func decode(line []byte) (out [][]byte) {
	texts := []json.RawMessage{line}
	if bytes.HasPrefix(line, []byte("[")) && json.Unmarshal(line, &texts) != nil {
		return nil
	}
	for _, text := range texts {
		message := wire.Read(text)
		if _, err := jsonrpc.DecodeMessage(message); err != nil {
			return nil
		}
		out = append(out, message)
	}
	return out
}

// passOver skips the rest of an oversized message and returns an error response for its request.
func passOver(start []byte, from *lineread.Reader) ([]byte, error) {
	const tail = 400
	size, end := len(start), bytes.Clone(start[max(len(start)-tail, 0):])
	err := from.Remainder(func(piece []byte) error {
		if size += len(piece); size > maxLine {
			return fmt.Errorf("it sent a message of more than %d MiB", maxLine>>20)
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
	return start, nil
}
