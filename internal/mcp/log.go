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

// Bounds of what is kept of a server's standard error, in bytes.
const (
	// keptLog is kept of it at least, where there is so much.
	keptLog = 64 << 10
	// maxLog is when the file of it is cut to keptLog.
	maxLog = 2 * keptLog
	// maxLogLine is how long a line may be until a part of it counts as one.
	maxLogLine = 8 << 10
	// maxWords and maxWordLines bound what is shown of it beside a server.
	maxWords     = 4 << 10
	maxWordLines = 20
)

// Marks in a log: of a line of adze's own, and of one that says that a program was started.
const (
	logMark   = "--- "
	startedAs = " started as process "
)

// serverLog keeps what a server wrote to standard error, and when it began and ended, in a file for
// the user's eyes only. It is cleaned and without secrets. What cannot be written is lost: a log
// holds nothing up. A nil one keeps nothing.
type serverLog struct {
	path string
	mask func(string) string

	mu   sync.Mutex
	part []byte // of a line that is not complete
}

// logFile is where the log of a server is kept.
func (s Server) logFile(dir string) string {
	return strings.TrimSuffix(s.file(dir), ".json") + ".log"
}

// Write takes a piece of standard error; it never fails.
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

// note adds a line of adze's own.
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

// add writes whole lines; the lock is held.
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

// tailOf is the end of a log, from the start of a line.
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

// Log is the end of what a server wrote to standard error in this run and in earlier ones, cleaned
// and without secrets, and the file that it is in. If empty, there is none.
func (p *Pool) Log(name string) (text, file string) {
	v := p.servers[name]
	if v == nil || p.opts.State == "" {
		return "", ""
	}
	file = v.conf.logFile(p.opts.State)
	return tailOf(file), file
}

// LastWords are the last lines that the program of a server wrote to standard error since it was
// started; it may have ended since. If empty, there is none.
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
