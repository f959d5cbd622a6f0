package mcp

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"adze/internal/osfile/atomicfile"
)

// Limits of a server's log, in bytes.
const (
	// keptLog is the least amount kept when the log is cut.
	keptLog = 64 << 10
	// maxLog is the size at which the file is cut to keptLog.
	maxLog = 2 * keptLog
	// maxLogLine is the length at which a line is split.
	maxLogLine = 8 << 10
	// maxWords and maxWordLines limit the excerpt shown with a server.
	maxWords     = 4 << 10
	maxWordLines = 20
)

// Prefixes of log lines: adze's own lines, and the one for a program start.
const (
	logMark   = "--- "
	startedAs = " started as process "
)

// serverLog writes a server's standard error, and its starts and ends, to a file for the user. Text
// is cleaned and secrets are masked. Write errors are ignored so that a log blocks nothing. A nil
// serverLog drops everything.
type serverLog struct {
	path string
	mask func(string) string

	mu   sync.Mutex
	part []byte // of an incomplete line
}

func (s Server) logFile(dir string) string {
	return strings.TrimSuffix(s.file(dir), ".json") + ".log"
}

// Write adds standard error output. It never fails.
func (l *serverLog) Write(p []byte) (int, error) {
	if l == nil {
		return len(p), nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part = append(l.part, p...)
	end := bytes.LastIndexByte(l.part, '\n') + 1
	if end == 0 && len(l.part) > maxLogLine {
		end = len(l.part)
	}
	l.add(string(l.part[:end]))
	l.part = append(l.part[:0], l.part[end:]...)
	return len(p), nil
}

// line adds a line of the standard output that is no message, apart from what Write collects.
func (l *serverLog) line(text []byte) {
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.add(string(text) + "\n")
	}
}

func (l *serverLog) note(format string, args ...any) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.part) > 0 {
		l.add(string(l.part) + "\n")
		l.part = l.part[:0]
	}
	l.add(logMark + time.Now().Format(time.RFC3339) + " " + Line(fmt.Sprintf(format, args...), 2000) + "\n")
}

// add writes complete lines. The caller holds the lock.
func (l *serverLog) add(text string) {
	if text == "" {
		return
	}
	if len(text) > keptLog {
		text = text[len(text)-keptLog:]
	}
	if l.mask != nil {
		text = l.mask(text)
	}
	text = Clean(text, len(text))
	if os.MkdirAll(filepath.Dir(l.path), 0o700) != nil {
		return
	}
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = io.WriteString(f, text)
	info, err := f.Stat()
	f.Close()
	if err == nil && info.Size() > maxLog {
		_ = atomicfile.WriteCache(l.path, []byte(tailOf(l.path)))
	}
}

// tailOf returns a log's end, starting at a line.
func tailOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	from := max(info.Size()-keptLog, 0)
	raw, err := io.ReadAll(io.NewSectionReader(f, from, keptLog))
	if err != nil {
		return ""
	}
	if i := bytes.IndexByte(raw, '\n'); from > 0 && i >= 0 {
		raw = raw[i+1:]
	}
	return string(raw)
}

// Log returns the end of a server's standard error from this and earlier runs, cleaned and without
// secrets, and its file's path. Both are "" if there is none.
func (p *Pool) Log(name string) (text, file string) {
	v := p.servers[name]
	if v == nil || p.opts.State == "" {
		return "", ""
	}
	file = v.conf.logFile(p.opts.State)
	return tailOf(file), file
}

// LastWords returns the last lines that a server's program wrote to standard error since its last
// start, also after it has exited, or "".
func (p *Pool) LastWords(name string) string {
	text, _ := p.Log(name)
	lines := strings.Split(strings.TrimRight(text[max(len(text)-maxWords, 0):], "\n"), "\n")
	var own []string
	for _, line := range lines[max(len(lines)-maxWordLines, 0):] {
		switch {
		case strings.HasPrefix(line, logMark) && strings.Contains(line, startedAs):
			own = nil
		case !strings.HasPrefix(line, logMark):
			own = append(own, line)
		}
	}
	return strings.ToValidUTF8(strings.Join(own, "\n"), "")
}
