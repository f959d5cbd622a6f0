package ask

// Kind is what a choice does.
type Kind string

// The kinds of choices.
const (
	AllowOnce   Kind = "allow once"
	AllowAlways Kind = "allow always" // or more than once
	Refuse      Kind = "refuse"
)

// Question is what the model asks.
type Question struct {
	Agent   string // the subagent that asks; if empty, the main conversation
	Text    string
	Choices []string
	// Kinds says of each choice what it does, where the question is about something that may be done;
	// if empty, the choices are answers.
	Kinds []Kind
	// Title is what the user is asked about; if empty, that the model asks. Other says what other
	// words than a choice are for; if empty, an answer. Said is what came of their last answer.
	Title, Other, Said string
	// Markdown says that Text is drawn as answers are.
	Markdown bool
	// Decides says that every row of Text has to be seen before a choice is taken: what it allows
	// stands in it.
	Decides bool
}
