package instructions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"adze/session"
	"adze/tool"
)

// foreign lists folders with third-party code, whose instructions are ignored.
func foreign() []string {
	return []string{"node_modules", "bower_components", "vendor", "site-packages", ".venv", "venv", ".tox", ".git"}
}

// Notes returns the instructions that join after a step: those of folders in which a call first
// read or changed a file, rules for such files, and rules that the prompt names with @. It is
// session.Config.Notes; the session repeats a note only if its hash changed.
func (r *Reader) Notes(ctx context.Context, s session.Step) []session.Note {
	if r.silent() {
		return nil
	}
	touched := r.touched(s)
	if len(touched) == 0 && s.Prompt == nil {
		return nil
	}
	l := late{in: r.reader(ctx), base: r.file(), touched: touched, said: s.Notes}
	l.in.real, l.in.sums = maps.Clone(l.base.real), maps.Clone(l.base.sums)
	for _, file := range touched {
		for _, folder := range r.folders(file) {
			l.folder(folder)
		}
	}
	for _, rule := range append(slices.Clone(l.base.rules), l.rules...) {
		if s.Prompt != nil && called(s.Prompt.Text, rule.name) || slices.ContainsFunc(touched, rule.holds) {
			l.rule(rule)
		}
	}
	return l.notes
}

// touched returns the repository files that calls read or wrote, absolute, in order.
func (r *Reader) touched(s session.Step) (out []string) {
	var names []string
	for _, o := range s.Outcomes {
		for _, n := range o.Record.Needs {
			if (n.Permission == tool.Read || n.Permission == tool.Write) && (o.Status == tool.Completed || len(o.Changed) > 0) {
				names = append(names, n.Target)
			}
		}
	}
	if s.Prompt != nil {
		for _, a := range s.Prompt.Attachments {
			names = append(names, a.Name)
		}
	}
	root := r.tree()
	if root == nil || len(names) == 0 {
		return nil
	}
	for _, name := range names {
		if name != "" && !filepath.IsAbs(name) && name[0] != '~' {
			name = filepath.Join(r.Dir, name)
		}
		p, err := root.Resolve(name)
		if err != nil || !p.Exists() || p.Outside() || slices.Contains(out, p.Abs()) {
			continue
		}
		if info, err := root.Stat(p); err == nil && info.Mode.IsRegular() {
			out = append(out, p.Abs())
		}
	}
	return out
}

// folders returns a file's parent folders outside the system prompt's, outermost first.
func (r *Reader) folders(file string) (out []string) {
	rel, err := filepath.Rel(r.top, file)
	if err != nil {
		return nil
	}
	at := r.top
	known := r.chain()
	for part := range strings.SplitSeq(filepath.Dir(rel), string(filepath.Separator)) {
		if at = filepath.Join(at, part); slices.Contains(foreign(), part) {
			return out
		}
		if !slices.Contains(known, at) {
			out = append(out, at)
		}
	}
	return out
}

type late struct {
	in      *reader
	base    instructionSet
	touched []string
	said    []session.Note
	looked  []string // folders
	rules   []rule   // of these folders
	notes   []session.Note
}

func (l *late) folder(dir string) {
	if slices.Contains(l.looked, dir) {
		return
	}
	l.looked = append(l.looked, dir)
	files, rules := l.in.folder(dir, false)
	l.rules = append(l.rules, rules...)
	for _, f := range files {
		shown := l.in.owner.displayPath(dir)
		l.tell(f, fmt.Sprintf("Instructions for files in %s:", shown))
	}
}

func (l *late) rule(r rule) {
	raw, _, err := l.in.ruled(r)
	if err != nil {
		return // already known from the start, or deleted
	}
	f, state := l.in.take(raw, r.shown, r.mine)
	if state != fresh {
		return
	}
	head := "Rules that were asked for:"
	if len(r.globs) > 0 {
		head = fmt.Sprintf("Rules for files such as %s:", strings.Join(r.globs, ", "))
	}
	l.tell(f, head)
}

// tell adds a file to the notes unless the system prompt contains it or the model just read it.
func (l *late) tell(f File, head string) {
	if slices.Contains(l.touched, f.Real) || strings.TrimSpace(f.Text) == "" {
		return
	}
	f = l.in.fit(f)
	sum := sha256.Sum256([]byte(f.Text))
	hash := hex.EncodeToString(sum[:])
	if slices.ContainsFunc(l.said, func(n session.Note) bool { return n.Path == f.Real && n.SHA256 != hash }) {
		head = "Changed since you were told. " + head
	}
	l.notes = append(l.notes, session.Note{
		Kind: session.InstructionsNote, Source: f.DisplayPath, Path: f.Real, SHA256: hash, KeepInCompaction: true, Text: head + "\n\n" + f.Text,
	})
}

// called reports whether a prompt names a rule with @.
func called(prompt, name string) bool {
	return regexp.MustCompile(`(?:^|[\s(])@` + regexp.QuoteMeta(strings.ToValidUTF8(name, "�")) + `(?:$|[^\w/-])`).MatchString(prompt)
}
