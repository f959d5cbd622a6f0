package stream

import (
	"encoding/json"
	"time"
	"unicode/utf8"

	"adze/session"
	"adze/tool"
)

// Schema is the version of the lines. It changes when a field changes its meaning or disappears;
// fields may be added without a change.
const Schema = "adze.stream/1"

type initLine struct {
	Type   string `json:"type"`
	Schema string `json:"schema"`
	Head
}

type deltaLine struct {
	Type    string `json:"type"` // text, reasoning
	Message string `json:"message"`
	Delta   string `json:"delta"`
}

type messageLine struct {
	Type    string          `json:"type"`
	Message session.Message `json:"message"`
}

// subagentMark marks a subagent's lines; Parent is the call that started it. Both are empty for the
// main conversation.
type subagentMark struct {
	Parent tool.CallID `json:"parent,omitempty"`
	Agent  string      `json:"agent,omitempty"`
}

type startLine struct {
	Type string      `json:"type"`
	Call tool.CallID `json:"call"`
	subagentMark
	Name       string          `json:"name"`
	Title      string          `json:"title,omitempty"`
	Args       json.RawMessage `json:"args"`
	Provenance provenance      `json:"provenance"`
}

type provenance struct {
	Origin tool.Origin `json:"origin"`
	Repair string      `json:"repair,omitempty"`
	// NoSchemaMode is set if the arguments were not validated.
	NoSchemaMode tool.NoSchemaMode `json:"no_schema_mode,omitempty"`
}

type updateLine struct {
	Type string      `json:"type"`
	Call tool.CallID `json:"call"`
	subagentMark
	Title    string          `json:"title,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

type endLineOf struct {
	Type string      `json:"type"`
	Call tool.CallID `json:"call"`
	subagentMark
	Name     string      `json:"name"`
	Status   tool.Status `json:"status"`
	Code     string      `json:"code,omitempty"`
	Title    string      `json:"title,omitempty"`
	Duration int64       `json:"duration_ms"`
	// Output is the result for the model, shortened if long, and OutputBytes its full length.
	Output      string          `json:"output"`
	OutputBytes int             `json:"output_bytes"`
	Attachments []attachment    `json:"attachments,omitempty"`
	Truncated   bool            `json:"truncated"` // the model got a shortened result
	OutputFile  string          `json:"output_file,omitempty"`
	Metadata    json.RawMessage `json:"metadata,omitempty"`
	Validated   bool            `json:"validated"`
}

// attachment is an image or document of a result. Data is missing if it is too large for a line.
type attachment struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Bytes     int    `json:"bytes"`
	Data      []byte `json:"data,omitempty"` // base64
}

// Limits of one line, in bytes.
const (
	maxOutput = 64 << 10 // per output
	maxData   = 8 << 20  // of all attachments
)

type askLine struct {
	Type string      `json:"type"`
	Call tool.CallID `json:"call"`
	subagentMark
	Name     string         `json:"name"`
	Need     []tool.Need    `json:"need"`
	Rule     string         `json:"rule,omitempty"`
	Decision *tool.Decision `json:"decision"`
}

// retryLine means that the partial message is void and comes again.
type retryLine struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Attempt int    `json:"attempt"`
	Limit   int    `json:"of"`
	Delay   int64  `json:"delay_ms"`
	Cause   string `json:"cause"`
}

type noticeLine struct {
	Type string `json:"type"`
	Text string `json:"text"`
	// Prefix describes the part that a request did not repeat from the one before, if the notice is
	// about that.
	Prefix *session.PrefixChange `json:"prefix,omitempty"`
}

// noteLine is a late note for the model, with its origin.
type noteLine struct {
	Type    string         `json:"type"`
	Message string         `json:"message"`
	Notes   []session.Note `json:"notes"`
	Text    string         `json:"text"`
}

// claimLine is a claim in the answer that the calls do not support, and their evidence.
type claimLine struct {
	Type     string             `json:"type"`
	Claims   []session.Claim    `json:"claims"`
	Evidence []session.Evidence `json:"evidence,omitempty"`
}

// unsavedLine is the number of log entries waiting in memory. Zero without a cause means that all
// are stored again.
type unsavedLine struct {
	Type    string `json:"type"`
	Entries int    `json:"entries"`
	Bytes   int    `json:"bytes"`
	Cause   string `json:"cause,omitempty"`
}

// lineOf converts an event, or returns nil if it has no line. mask.go writes text that arrives in
// pieces; forming calls are for panes only, and Finish writes the result.
func lineOf(e session.Event) any {
	switch e := e.(type) {
	case session.TextDelta:
		return deltaLine{"text", e.Message, e.Delta}
	case session.ReasoningDelta:
		return deltaLine{"reasoning", e.Message, e.Delta}
	case session.MessageDone:
		switch {
		case e.Message.Role == session.Assistant:
			return messageLine{"message", e.Message}
		case len(e.Message.Notes) > 0:
			return noteLine{"note", e.Message.ID, e.Message.Notes, e.Message.Text()}
		case e.Message.Note:
			return noticeLine{Type: "notice", Text: e.Message.NoteText()}
		}
	case session.ToolStart:
		return startOf(e)
	case session.ToolUpdate:
		return updateLine{"tool_update", e.Call, subagentMark{e.Parent, e.Agent}, e.Title, e.Redacted}
	case session.ToolEnd:
		return endOf(e)
	case session.ToolAsk:
		return askLine{"ask", e.Call, subagentMark{e.Parent, e.Agent}, e.Tool, e.Needs, e.Decision.Rule, e.Decision}
	case session.Requested:
		return requestOf(e)
	case session.Retry:
		return retryLine{"retry", e.Message, e.Attempt, e.Of, e.Delay.Milliseconds(), e.Cause}
	case session.Notice:
		return noticeLine{Type: "notice", Text: e.Text}
	case session.Claimed:
		return claimLine{"claim", append([]session.Claim{}, e.Claims...), e.Evidence}
	case session.Unsaved:
		return unsavedLine{"unsaved", e.Entries, e.Bytes, e.Cause}
	case session.Planned:
		return planLine{"plan", planOf{e.State, e.SHA256, e.Path, e.Mode}, e.Edits, e.Remarks}
	case session.Compacted:
		return compactLine{"compact", e.Cause, e.Messages, e.FirstKept, e.Before, e.After, e.Summary.Text()}
	case session.PrefixChanged:
		return noticeLine{"notice", e.Change.String(), &e.Change}
	case session.Counted:
		if e.Message != "" {
			return contextOf(e)
		}
	}
	return nil
}

// compactLine marks the first messages, up to the one kept, as no longer sent.
type compactLine struct {
	Type     string `json:"type"`
	Cause    string `json:"cause"`
	Messages int    `json:"messages"`
	Kept     string `json:"kept,omitempty"`
	Before   int    `json:"tokens_before"`
	After    int    `json:"tokens_after"`
	Summary  string `json:"summary"`
}

func startOf(e session.ToolStart) startLine {
	l := startLine{Type: "tool_start", Call: e.Call, subagentMark: subagentMark{e.Parent, e.Agent}, Name: e.Tool, Title: e.Title, Args: e.Args, Provenance: provenance{Origin: e.Origin, NoSchemaMode: e.NoSchemaMode}}
	if e.Repair != nil {
		l.Provenance.Repair = e.Repair.Kind
	}
	return l
}

func endOf(e session.ToolEnd) endLineOf {
	o := e.Outcome
	return endLineOf{
		Type: "tool_end", Call: o.Call, subagentMark: subagentMark{e.Parent, e.Agent}, Name: o.Tool, Status: o.Status, Code: o.Code, Title: o.Title,
		Duration: o.Duration.Milliseconds(), Output: head(o.Output, maxOutput), OutputBytes: len(o.Output),
		Attachments: attachments(o.Attachments), Truncated: o.Truncated, OutputFile: o.OutputFile,
		Metadata: e.Redacted, Validated: o.Record.Validated,
	}
}

// head returns a text's beginning, cut between characters.
func head(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

func attachments(all []tool.Attachment) (out []attachment) {
	left := maxData
	for _, a := range all {
		told := attachment{Name: a.Name, MediaType: a.MediaType, Bytes: len(a.Data)}
		if len(a.Data) <= left {
			told.Data = a.Data
			left -= len(a.Data)
		}
		out = append(out, told)
	}
	return out
}

// modeLine is the permission mode from here on.
type modeLine struct {
	Type string `json:"type"`
	Mode string `json:"permission_mode"`
}

// modelLine is the model from here on.
type modelLine struct {
	Type     string `json:"type"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
}

// planLine is the decision on a plan; its text is in the call or the file.
type planLine struct {
	Type string `json:"type"`
	planOf
	Edits   string `json:"edits,omitempty"`
	Remarks string `json:"remarks,omitempty"`
}

type planOf struct {
	State  session.PlanState `json:"state"`
	SHA256 string            `json:"sha256"`
	Path   string            `json:"path,omitempty"`
	Mode   string            `json:"mode,omitempty"`
}

// resultLine is the last line, and the object of --output-format json.
type resultLine struct {
	Type       string                         `json:"type"`
	Schema     string                         `json:"schema"`
	Cause      session.Cause                  `json:"cause"`
	ExitCode   int                            `json:"exit_code"`
	Text       string                         `json:"text"`
	Message    string                         `json:"message,omitempty"`
	Hint       string                         `json:"hint,omitempty"`
	Usage      map[string]session.Usage       `json:"usage"`
	Cost       *float64                       `json:"cost_usd"`
	Turns      int                            `json:"turns"`
	Calls      map[string]map[tool.Status]int `json:"calls"`
	Denied     []session.Denial               `json:"denied"`
	Changed    []string                       `json:"files_changed"`
	Notes      []session.Note                 `json:"notes"`
	Claims     []session.Claim                `json:"claims,omitempty"`
	Evidence   []session.Evidence             `json:"evidence,omitempty"`
	Staged     json.RawMessage                `json:"staged,omitempty"` // of a staged turn
	Plan       *planOf                        `json:"plan,omitempty"`
	Session    string                         `json:"session"`
	Duration   int64                          `json:"duration_ms"`
	RetryAfter *int64                         `json:"retry_after_ms,omitempty"` // pause required by a provider whose limit ended the run; 0 if it gave no time
	Structured json.RawMessage                `json:"structured"`
}

func resultOf(r session.Result, h Head) resultLine {
	l := resultLine{
		Type: "result", Schema: Schema, Cause: r.Cause, ExitCode: ExitCode(r.Cause), Text: r.Text,
		Message: r.Message, Hint: r.Hint, Usage: r.Usage, Cost: r.Cost, Turns: r.Steps, Calls: r.Calls,
		Denied: r.Denied, Changed: r.Changed, Staged: r.Staged, Notes: r.Notes, Claims: r.Claims, Evidence: r.Evidence, Session: h.Session,
		Duration: r.Duration.Round(time.Millisecond).Milliseconds(), Structured: json.RawMessage("null"),
	}
	if r.Limited != nil {
		l.RetryAfter = new(r.Limited.Milliseconds())
	}
	if r.Plan != nil {
		l.Plan = &planOf{r.Plan.State, r.Plan.SHA256, r.Plan.Path, r.Plan.Mode}
	}
	// A script must not have to distinguish null from nothing.
	if r.Structured != nil {
		l.Structured = r.Structured
	}
	if l.Usage == nil {
		l.Usage = map[string]session.Usage{}
	}
	if l.Calls == nil {
		l.Calls = map[string]map[tool.Status]int{}
	}
	if l.Denied == nil {
		l.Denied = []session.Denial{}
	}
	if l.Changed == nil {
		l.Changed = []string{}
	}
	if l.Notes == nil {
		l.Notes = []session.Note{}
	}
	return l
}
