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

// A note is text that joins a conversation late: the instructions of a folder that a call just
// reached, what a hook adds, the report of a task in the background, another mode. It is said as a
// message at the end, never in the system prompt or among the tools, so that a request still begins
// with the bytes of the one before. The log has an entry of its own for it, so that nobody takes it
// for the user's words.

// NoteKind says what a note is about.
type NoteKind string

// Kinds of notes.
const (
	InstructionsNote NoteKind = "instructions"
	SkillNote        NoteKind = "skill"
	HookNote         NoteKind = "hook"
	TaskNote         NoteKind = "task"
	PlanNote         NoteKind = "plan"
	ModeNote         NoteKind = "mode"
	LoopNote         NoteKind = "loop" // that the model is repeating itself
	CodeNote         NoteKind = "code" // what a language server found when the call was over
)

// Note is one text for the model and where it comes from.
type Note struct {
	Kind NoteKind `json:"kind"`
	From string   `json:"from"`           // as a user and the model read it: "web/AGENTS.md"
	Path string   `json:"path,omitempty"` // the file that it was read from, absolute and without links
	// SHA256 is of the text, or of the file that it comes from, in hexadecimal; if empty, the session
	// fills it in.
	SHA256 string `json:"sha256"`
	Bytes  int    `json:"bytes"` // of the text; the session fills it in
	// Lasts keeps the newest note of this kind and origin when the conversation is summed up, and
	// leaves out one that the model was told last.
	Lasts bool `json:"lasts,omitempty"`
	// Holds keeps a turn from ending before the model was told this; a TaskNote always does.
	Holds bool `json:"-"`
	// Short is the note in a few words, for the user; if empty, From names it.
	Short string `json:"short,omitempty"`
	Text  string `json:"-"` // in a message it stands in its only part, among the others
}

// Step is what just happened in a turn, for Config.Notes: the user's prompt is about to be said,
// or calls were answered.
type Step struct {
	Agent    string // the subagent; if empty, the main conversation
	Prompt   *Input // nil after calls
	Outcomes []tool.Outcome
	Said     []Note // what the model was told and still sees, oldest first; without texts
}

// Note hands the model a text with the next request, of this turn or of the next one. One that no
// request follows is lost with the process. It is for any goroutine.
func (s *Session) Note(n Note) {
	s.beside.mu.Lock()
	defer s.beside.mu.Unlock()
	s.beside.notes = append(s.beside.notes, n)
}

// Late reports that the model was not told yet what a task in the background came to, or another
// note that holds the end of a turn. The other notes wait for the next prompt. It is for any
// goroutine.
func (s *Session) Late() bool {
	s.beside.mu.Lock()
	defer s.beside.mu.Unlock()
	return slices.ContainsFunc(s.beside.notes, func(n Note) bool { return n.Kind == TaskNote || n.Holds })
}

// late reports, when a turn would end, whether there is more to tell: it waits for what is on its
// way.
func (s *Session) late(ctx context.Context) bool {
	for !s.Late() {
		if s.config.Await == nil || !s.config.Await(ctx) {
			return ctx.Err() == nil && s.Late()
		}
	}
	return true
}

// noted takes the notes that were handed in.
func (b *beside) noted() []Note {
	b.mu.Lock()
	defer b.mu.Unlock()
	notes := b.notes
	b.notes = nil
	return notes
}

// tell says the notes of a step after its outcomes, before the next request.
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

// gatherNotes makes one message of what is to be told now; if false, nothing is.
func (s *Session) gatherNotes(ctx context.Context, prompt *Input) (Message, bool) {
	notes, told := s.beside.noted(), s.toldNotes()
	if fresh := s.freshOutcomes(); s.config.Notes != nil && (prompt != nil || len(fresh) > 0) {
		step := Step{Agent: s.config.Start.Agent, Prompt: prompt, Outcomes: fresh, Said: slices.Clone(told)}
		notes = append(notes, s.config.Notes(ctx, step)...)
	}
	m := Message{Role: User, Note: true}
	var text strings.Builder
	for _, n := range notes {
		if s.config.Mask != nil {
			n.Text = s.config.Mask(n.Text)
		}
		n.fill()
		if n.Bytes == 0 || n.Lasts && n.Kind != LoopNote && newest(told, n).SHA256 == n.SHA256 {
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

// freshOutcomes are those at the end of the conversation that no notes were asked for.
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

// toldNotes are those that are still sent.
func (s *Session) toldNotes() (out []Note) {
	for _, m := range s.history {
		out = append(out, m.Notes...)
	}
	return out
}

// newest is the last note of the kind and origin of n.
func newest(notes []Note, n Note) Note {
	for _, old := range slices.Backward(notes) {
		if old.same(n) {
			return old
		}
	}
	return Note{}
}

// same reports notes of which the newer one takes the place of the other.
func (n Note) same(other Note) bool {
	return n.Kind == other.Kind && cmp.Or(n.Path, n.From) == cmp.Or(other.Path, other.From)
}

func (n *Note) fill() {
	n.Text = strings.TrimSpace(n.Text)
	n.Bytes = len(n.Text)
	if n.SHA256 == "" {
		sum := sha256.Sum256([]byte(n.Text))
		n.SHA256 = hex.EncodeToString(sum[:])
	}
}

// tagHash is how much of the hash the model reads, in characters: enough to tell versions apart.
const tagHash = 12

// wrapped is the text as every provider is sent it. Nothing in it can end the note or begin another
// one.
func (n Note) wrapped() string {
	from := strings.NewReplacer(`"`, "'", "<", "(", ">", ")", "\n", " ").Replace(n.From)
	return fmt.Sprintf("<note from=\"%s\" sha256=\"%s\">\n%s\n", from, n.SHA256[:min(tagHash, len(n.SHA256))], untagged(n.Text)) + noteEnd
}

// noteEnd stands behind each note, and nowhere else.
const noteEnd = "</note>\n"

// wrappedNotes are the texts of the notes of a message, with their tags.
func (m Message) wrappedNotes() []string {
	texts := strings.SplitAfter(m.Text(), noteEnd)
	if texts = texts[:len(texts)-1]; len(texts) != len(m.Notes) {
		texts = make([]string, len(m.Notes)) // a log that was edited
		texts[0] = m.Text()
	}
	return texts
}

// unwrapped is the text of a note in its tags.
func (n Note) unwrapped(text string) string {
	_, text, _ = strings.Cut(text, ">\n")
	return strings.TrimSpace(strings.TrimSuffix(text, noteEnd))
}

// untagged spells the tags of notes out.
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

// String is the note as a user reads it, on one line.
func (n Note) String() string {
	if n.Short != "" {
		return "told the model: " + n.Short
	}
	return fmt.Sprintf("told the model: %s (%s, %d bytes)", n.From, n.Kind, n.Bytes)
}

// NoteText is a message of adze or of a note's origin as the user reads it.
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
