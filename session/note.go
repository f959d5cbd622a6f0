package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"adze/tool"
)

// A note is text that joins a conversation late: a folder's instructions, a hook's context, a
// background task's report, another mode. It becomes a message at the end, never part of the system
// prompt or the tools, so that a request still starts with the previous one's bytes. It has its own
// log entry type, so that nobody takes it for the user's words.

// A NoteKind is the subject of a note.
type NoteKind string

// Note kinds.
const (
	InstructionsNote NoteKind = "instructions"
	SkillNote        NoteKind = "skill"
	HookNote         NoteKind = "hook"
	TaskNote         NoteKind = "task"
	PlanNote         NoteKind = "plan"
	ModeNote         NoteKind = "mode"
	LoopNote         NoteKind = "loop" // the model is repeating itself
	CodeNote         NoteKind = "code" // diagnostics of a language server after a call
)

// A Note is one text for the model and its origin.
type Note struct {
	Kind   NoteKind `json:"kind"`
	Source string   `json:"from"`           // for the user and the model: "web/AGENTS.md"
	Path   string   `json:"path,omitempty"` // its file, absolute and without symlinks
	// SHA256 is the hexadecimal hash of the text or its file; the session fills it in if empty.
	SHA256 string `json:"sha256"`
	Bytes  int    `json:"bytes"` // of the text; filled in by the session
	// KeepInCompaction keeps the newest note of this kind and origin through compaction, and drops a
	// repetition of the last one.
	KeepInCompaction bool `json:"lasts,omitempty"`
	// Holds keeps a turn from ending before the model gets this note; a TaskNote always does.
	Holds bool `json:"-"`
	// Short is a few words for the user; if empty, Source is shown.
	Short string `json:"short,omitempty"`
	Text  string `json:"-"` // in a message, part of its only text part
}

// A Step is the newest event of a turn, for Config.Notes: a new prompt, or outcomes of calls.
type Step struct {
	Agent    string // the subagent, or "" for the main conversation
	Prompt   *Input // nil after calls
	Outcomes []tool.Outcome
	Notes    []Note // notes still in the conversation, oldest first; without texts
}

// Note sends the model a text with the next request, in this turn or the next one. Without a
// request it is lost with the process. Any goroutine may call it.
func (s *Session) Note(n Note) {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	s.control.notes = append(s.control.notes, n)
}

// Late reports whether a task's report, or another note that holds the turn's end, has not reached
// the model yet. Other notes wait for the next prompt. Any goroutine may call it.
func (s *Session) Late() bool {
	s.control.mu.Lock()
	defer s.control.mu.Unlock()
	return slices.ContainsFunc(s.control.notes, func(n Note) bool { return n.Kind == TaskNote || n.Holds })
}

// late reports at a turn's end whether the model must get more notes, after waiting for those on
// their way.
func (s *Session) late(ctx context.Context) bool {
	for !s.Late() {
		if s.config.Await == nil || !s.config.Await(ctx) {
			return ctx.Err() == nil && s.Late()
		}
	}
	return true
}

func (b *control) noted() []Note {
	b.mu.Lock()
	defer b.mu.Unlock()
	notes := b.notes
	b.notes = nil
	return notes
}

// tellNotes adds the notes of a step after its outcomes, before the next request.
func (s *Session) tellNotes(t *turn) error {
	m, any := s.gatherNotes(t.ctx, nil)
	if !any {
		return nil
	}
	if err := s.store(t.ctx, s.entry(NoteEntry, said(m))); err != nil {
		return err
	}
	t.result.Notes = append(t.result.Notes, m.Notes...)
	s.keep(m)
	return nil
}

// gatherNotes combines the due notes into one message, or returns false if there are none.
func (s *Session) gatherNotes(ctx context.Context, prompt *Input) (Message, bool) {
	notes, told := s.control.noted(), s.toldNotes()
	if fresh := s.freshOutcomes(); s.config.Notes != nil && (prompt != nil || len(fresh) > 0) {
		step := Step{Agent: s.config.Start.Agent, Prompt: prompt, Outcomes: fresh, Notes: slices.Clone(told)}
		notes = append(notes, s.config.Notes(ctx, step)...)
	}
	m := Message{Role: User, Note: true}
	var text strings.Builder
	for _, n := range notes {
		if s.config.Mask != nil {
			n.Text = s.config.Mask(n.Text)
		}
		n.fill()
		if n.Bytes == 0 || n.KeepInCompaction && n.Kind != LoopNote && newest(told, n).SHA256 == n.SHA256 {
			continue
		}
		told = append(told, n)
		m.Notes = append(m.Notes, n)
		text.WriteString(n.wrapped())
	}
	if len(m.Notes) == 0 {
		return m, false
	}
	m.ID, m.Parts = s.nextID(), []Part{{Kind: TextPart, Text: text.String()}}
	return m, true
}

// freshOutcomes returns the last outcomes, unless Config.Notes has seen them.
func (s *Session) freshOutcomes() (out []tool.Outcome) {
	if len(s.history) == 0 {
		return nil
	}
	last := s.history[len(s.history)-1]
	if last.Role != ToolRole || last.ID == s.asked {
		return nil
	}
	s.asked = last.ID
	for _, p := range last.Parts {
		out = append(out, *p.Outcome)
	}
	return out
}

// toldNotes returns the notes in the current conversation.
func (s *Session) toldNotes() (out []Note) {
	for _, m := range s.history {
		out = append(out, m.Notes...)
	}
	return out
}

// newest returns the last note with the kind and origin of n.
func newest(notes []Note, n Note) Note {
	for _, old := range slices.Backward(notes) {
		if old.same(n) {
			return old
		}
	}
	return Note{}
}

// same reports whether the newer note replaces the other.
func (n Note) same(other Note) bool {
	return n.Kind == other.Kind && cmp.Or(n.Path, n.Source) == cmp.Or(other.Path, other.Source)
}

func (n *Note) fill() {
	n.Text = strings.TrimSpace(n.Text)
	n.Bytes = len(n.Text)
	if n.SHA256 == "" {
		sum := sha256.Sum256([]byte(n.Text))
		n.SHA256 = hex.EncodeToString(sum[:])
	}
}

// tagHash is the length of the hash that the model sees: enough to distinguish versions.
const tagHash = 12

// wrapped returns the note as sent to providers. Its text cannot end the note or start another one.
func (n Note) wrapped() string {
	from := strings.NewReplacer(`"`, "'", "<", "(", ">", ")", "\n", " ").Replace(n.Source)
	return fmt.Sprintf("<note from=\"%s\" sha256=\"%s\">\n%s\n", from, n.SHA256[:min(tagHash, len(n.SHA256))], untagged(n.Text)) + noteEnd
}

// noteEnd follows each note and occurs nowhere else.
const noteEnd = "</note>\n"

// wrappedNotes returns the texts of a message's notes, with tags.
func (m Message) wrappedNotes() []string {
	texts := strings.SplitAfter(m.Text(), noteEnd)
	if texts = texts[:len(texts)-1]; len(texts) != len(m.Notes) {
		texts = make([]string, len(m.Notes)) // an edited log
		texts[0] = m.Text()
	}
	return texts
}

func (n Note) unwrapped(text string) string {
	_, text, _ = strings.Cut(text, ">\n")
	return strings.TrimSpace(strings.TrimSuffix(text, noteEnd))
}

func untagged(text string) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(text, '<')
		if at < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:at])
		text = text[at+1:]
		name := strings.TrimLeft(text, "/ \t\r\n")
		if len(name) >= len("note") && strings.EqualFold(name[:len("note")], "note") {
			b.WriteString("&lt;")
			continue
		}
		b.WriteByte('<')
	}
}

// String formats the note on one line for the user.
func (n Note) String() string {
	if n.Short != "" {
		return "told the model: " + n.Short
	}
	return fmt.Sprintf("told the model: %s (%s, %d bytes)", n.Source, n.Kind, n.Bytes)
}

// NoteText formats adze's own message or one with notes for the user.
func (m Message) NoteText() string {
	if len(m.Notes) == 0 {
		return "told the model: " + m.Text()
	}
	lines, texts := make([]string, len(m.Notes)), m.wrappedNotes()
	for i, n := range m.Notes {
		lines[i] = n.String()
		if n.Kind == LoopNote {
			lines[i] = "told the model: " + n.unwrapped(texts[i])
		}
	}
	return strings.Join(lines, "\n")
}
