package ask

// Nobody is the error of a question that no user can answer, with the reason.
type Nobody string

func (n Nobody) Error() string { return string(n) }

// Kind is a choice's effect.
type Kind string

// Kinds of choices.
const (
	AllowOnce   Kind = "allow once"
	AllowAlways Kind = "allow always" // or more than once
	Refuse      Kind = "refuse"
)

// A Question is the model's question.
type Question struct {
	Agent   string // asking subagent; "" for the main conversation
	Text    string
	Choices []string
	// Kinds holds the effect of each choice, for a question about an action. If empty, the choices
	// are plain answers.
	Kinds []Kind
	// Title is the subject; "" means a question by the model. Other is the purpose of free text; ""
	// means an answer. Said is the last answer's result.
	Title, Other, Said string
	// Markdown makes Text render like answers.
	Markdown bool
	// Decides requires that every row of Text is seen before a choice, because Text describes what
	// the choice allows.
	Decides bool
}
