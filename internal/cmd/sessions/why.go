package sessions

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/sessiondb"
	"adze/internal/text/usage"
	"adze/internal/undo/blame"
	"adze/session"
	"adze/tool"
)

func (p past) why() *cobra.Command {
	c := &cobra.Command{Use: "why FILE[:LINE]", Annotations: cmd.CallableByTools(), Short: "Tell which turn and call wrote a line of a file", Args: cmd.RangeArgs(1, 1),
		Long: `Goes back through what the calls of all sessions of this folder did to the file, from how it is now. What stands as a call
wrote it is the call's; what you or another program changed since is said not to be adze's. A command that changed the file in a
way that is not known is named as one that may have. A call in a work tree of adze beside this folder counts where all that it
wrote in one place stands here, as after adze sessions merge.`,
		Example: "  adze sessions why main.go:42\n  adze sessions why main.go\n  adze sessions why main.go --json | jq 'select(.by == \"call\")'",
		RunE: func(c *cobra.Command, words []string) error {
			return p.tellWhy(c.Context(), words[0], cmd.Flagged(c, "json"))
		}}
	c.Flags().Bool("json", false, "one JSON object for each stretch of lines")
	return c
}

// stretch is a range of lines with one origin, in --json.
type stretch struct {
	Path   string     `json:"path"`
	First  int        `json:"from"` // counts from 1
	Last   int        `json:"to"`
	Author string     `json:"by"` // call; unknown: one of Perhaps, or none known; person: not by adze
	Wrote  *writer    `json:"wrote,omitempty"`
	Maybe  []writer   `json:"maybe,omitempty"`
	line   blame.Line // origin shared by the range
}

// writer is a call that wrote lines.
type writer struct {
	Session session.ID  `json:"session"`
	Turn    int         `json:"turn"`
	Prompt  string      `json:"prompt,omitempty"`
	Message string      `json:"message"`
	Call    tool.CallID `json:"call"`
	Tool    string      `json:"tool"`
	Agent   string      `json:"agent,omitempty"`
	Command string      `json:"command,omitempty"`
	Time    time.Time   `json:"time"`
}

func writerOf(c blame.Change) writer {
	return writer{c.Session, c.Turn, c.Prompt, c.Message, c.Call, c.Tool, c.Agent, c.Command, c.Time.UTC()}
}

// maxBlamed limits the file, in bytes.
const maxBlamed = 32 << 20

func (p past) tellWhy(ctx context.Context, word string, asJSON bool) error {
	file, number := position(word)
	text, err := readBounded(file)
	if err != nil {
		return usage.Mistake("name a file of this folder, and a line behind a colon", "%v", err)
	}
	log, err := p.changesOf(ctx, file)
	if err != nil {
		return err
	}
	changes := log.Changes()
	lines := blame.Lines(p.Mask().Text(text), fmt.Sprintf("%x", sha256.Sum256([]byte(text))), changes, nil)
	if number > len(lines) {
		return usage.Mistake("count from 1", "%s has %d lines", file, len(lines))
	}
	for _, s := range stretches(file, lines, changes) {
		if number > 0 {
			if number < s.First || number > s.Last {
				continue
			}
			s.First, s.Last = number, number
		}
		if asJSON {
			if err := p.WriteJSON(s); err != nil {
				return err
			}
			continue
		}
		p.Show("%s", s.told(number > 0))
	}
	return nil
}

// position splits a line number from a file name, which may itself contain a colon.
func position(word string) (file string, line int) {
	at := strings.LastIndexByte(word, ':')
	if at < 0 {
		return word, 0
	}
	n, err := strconv.Atoi(word[at+1:])
	if _, serr := os.Lstat(word); err != nil || n < 1 || serr == nil {
		return word, 0
	}
	return word[:at], n
}

func readBounded(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a text file", file)
	}
	if info.Size() > maxBlamed {
		return "", fmt.Errorf("%s has more than %d bytes", file, maxBlamed)
	}
	raw, err := os.ReadFile(file)
	return string(raw), err
}

// changesOf reads the changes to a file by sessions in this folder and its work trees.
func (p past) changesOf(ctx context.Context, file string) (*blame.Log, error) {
	dir, err := p.CurrentFolder()
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(folder, filepath.Base(abs))
	}
	log := &blame.Log{Names: []string{filepath.ToSlash(abs)}}
	if rel, err := filepath.Rel(dir, abs); err == nil {
		log.Names = append(log.Names, filepath.ToSlash(rel))
	}
	return log, p.Store(ctx, func(s *sessiondb.Store) error {
		heads, err := s.List(ctx)
		if err != nil {
			return cmd.Readable(err)
		}
		for _, h := range heads {
			cwd := h.Info().Cwd
			if log.OtherWorktree = cwd != dir; log.OtherWorktree && !inWorktreeOf(dir, cwd) {
				continue
			}
			err := s.ScanEach(ctx, sessiondb.Scan{Session: h.ID, Types: blame.Types(), Paths: blame.Paths()}, func(f sessiondb.ScanResult) error {
				log.Add(f.Session, f.Entry)
				return nil
			})
			if err != nil {
				return cmd.Readable(err)
			}
		}
		return nil
	})
}

// inWorktreeOf reports whether folder is dir's counterpart in an adze work tree beside dir's
// checkout: /src/app-NAME/cmd for /src/app/cmd. The work tree may be deleted.
func inWorktreeOf(dir, folder string) bool {
	for top := dir; top != filepath.Dir(top); top = filepath.Dir(top) {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			return strings.HasPrefix(folder, top+"-") && strings.HasSuffix(folder, dir[len(top):])
		}
	}
	return false
}

// stretches joins consecutive lines of one origin.
func stretches(file string, lines []blame.Line, changes []blame.Change) (out []stretch) {
	for i, l := range lines {
		if n := len(out); n > 0 && out[n-1].line.ChangeIndex == l.ChangeIndex && slices.Equal(out[n-1].line.Perhaps, l.Perhaps) {
			out[n-1].Last = i + 1
			continue
		}
		s := stretch{Path: file, First: i + 1, Last: i + 1, Author: "person", line: l}
		for _, k := range l.Perhaps {
			s.Author, s.Maybe = "unknown", append(s.Maybe, writerOf(changes[k]))
		}
		if l.ChangeIndex >= 0 {
			w := writerOf(changes[l.ChangeIndex])
			s.Author, s.Wrote, s.Maybe = "call", &w, nil
		}
		out = append(out, s)
	}
	return out
}

// told formats a stretch, with more detail for a single line.
func (s stretch) told(whole bool) string {
	where := fmt.Sprintf("%s:%d", s.Path, s.First)
	if s.Last > s.First {
		where += fmt.Sprintf("-%d", s.Last)
	}
	switch s.Author {
	case "person":
		return where + "  not by adze: no call of a session of this folder wrote it as it stands\n"
	case "unknown":
		text := where + "  not known: it may be by\n"
		for _, w := range s.Maybe {
			text += "    " + w.told() + "\n"
		}
		return text
	}
	if !whole {
		return where + "  " + s.Wrote.told() + "\n"
	}
	text := where + "  " + s.Wrote.told() + "\n"
	return text + fmt.Sprintf("    adze sessions show %s --call %s\n", s.Wrote.Session, s.Wrote.Call)
}

// told formats a call on one line.
func (w writer) told() string {
	what := w.Tool
	if w.Command != "" {
		line, _, _ := strings.Cut(w.Command, "\n")
		what += " " + strconv.Quote(line)
	}
	if w.Agent != "" {
		what += " of the subagent " + w.Agent
	}
	text := fmt.Sprintf("%s · %s · turn %d of %s", what, w.Time.Local().Format("2006-01-02 15:04"), w.Turn, w.Session)
	if w.Prompt != "" {
		text += " " + strconv.Quote(w.Prompt)
	}
	return text
}
