package session

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"adze/tool"
)

// An answer without a call ends the turn, but some servers drop a call that they cannot parse, and
// the words before it look like an answer. Before an answer is accepted, its token count is
// compared with the received text, and its last sentence is checked.

// Lost token limits.
const (
	// surelyLost exceeds any marks and line breaks: the shortest call has as many.
	surelyLost = 14
	// oddlyLost is too many if the text also ends oddly.
	oddlyLost = 6
)

// doubtReason is the reason to reject an answer, or "".
type doubtReason string

// doubtOf checks a complete answer without calls. Without tools no call can be missing.
func doubtOf(m Message, done Done, tools []tool.Definition) doubtReason {
	text := strings.TrimSpace(m.Text())
	if text == "" || len(tools) == 0 || m.Stop == StopLength {
		return ""
	}
	lost := done.Lost
	unfinished := unfinishedText(text)
	// The expressions are large; do not run them on an answer without other signs.
	announced := (unfinished || lost >= oddlyLost) && announcesCall(text, tools)
	switch {
	case lost >= surelyLost, lost >= oddlyLost && (announced || unfinished):
		return doubtReason(fmt.Sprintf("the model wrote about %d tokens more than its server sent: most likely a call that the server could not read", lost))
	case done.TextCalls && endsInCall(text):
		return "the model wrote a call as text that nobody can read, or of a tool that was not offered"
	case announced && unfinished:
		return "the model announced a call and made none"
	}
	return ""
}

// question asks the model about its rejected answer.
func (d doubtReason) question(tools []tool.Definition) string {
	return "No call of a tool was received with your last reply. If you meant to call one, nothing was run: its name or its form could not be read. " +
		"The only tools that can be called, by exactly these names, are: " + strings.Join(namesOf(tools), ", ") + ". " +
		"Call one of them now. If no call is needed, write your whole answer again in plain text."
}

func (d doubtReason) err() error {
	return &ProviderError{Kind: EmptyAnswer, Message: string(d) + ", twice",
		Hint: "ask again in other words, or try another model; some servers drop a call of a name that was not offered"}
}

// longestSentence limits the examined text, in bytes: on a 100 KB answer the expressions would take
// ten milliseconds.
const longestSentence = 4 << 10

// lastSentence returns a text's last sentence, or "" if it is longer than longestSentence.
func lastSentence(text string) string {
	text = strings.TrimRight(text, " \n\t.:…!*_`。：")
	whole := len(text)
	for text = text[max(0, whole-longestSentence):]; len(text) > 0 && !utf8.RuneStart(text[0]); {
		text = text[1:]
	}
	end := text
	if at := strings.LastIndexAny(text, "\n。！？"); at >= 0 {
		_, size := utf8.DecodeRuneInString(text[at:])
		text = text[at+size:]
	}
	for _, mark := range []string{". ", "! ", "? ", ": "} {
		if at := strings.LastIndex(text, mark); at >= 0 {
			text = text[at+len(mark):]
		}
	}
	if len(text) == len(end) && whole > longestSentence {
		return ""
	}
	return strings.ToLower(strings.TrimLeft(text, " \t*_->#`"))
}

// announcements match the ways in which models announce their next action.
var announcements = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(?:ok(?:ay)?|sure|first|next|now|then|so|great|alright|zuerst|nun|jetzt|d'abord|maintenant|primero|ahora|prima|ora|agora|сначала|теперь|сейчас|好的|首先|现在|接下来|まず|次に|それでは)[,，、]? *)?(?:` +
		`i(?:'|’)ll |i will |i(?:'|’)m going to |i am going to |i call|i need to |i should |let me |let(?:'|’)s |calling |i(?:'|’)m (?:calling|running|reading|checking)|` +
		`ich (?:werde|rufe|lese|schaue|öffne|führe|prüfe|suche|sehe)|lass mich|ich muss|` +
		`je vais|j'appelle|je dois|laissez-moi|voy a|déjame|llamo a|necesito|vado a|chiamo|devo|fammi|vou |deixe-me|chamo|preciso|` +
		`я (?:вызову|прочитаю|посмотрю|проверю|запущу|открою|сначала)|давайте|вызываю|` +
		`我(?:来|将|会|要|需要|先|调用|现在)|让我|调用|` +
		`(?:we (?:need|should|will|can) )|(?:(?:call|use|run|read|check|look|search|open)(?:ing)? (?:the )?[\w./]+(?: tool)?$))`)
})

// promises match sentences that begin like announcements but are none.
var promises = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:let me know|let(?:'|’)s (?:know|talk|go|start|say)|i(?:'|’)ll (?:be|wait|leave|stop|let|keep|assume)|i will (?:be|wait|leave|stop|not|keep)|je vais bien|lass mich wissen)|` +
		`(?:wenn|if|once|when|falls|si|если) (?:you|sie|du|vous|usted|tu|вы)`)
})

// announcesCall reports whether the last sentence announces an action that needs a call.
func announcesCall(text string, tools []tool.Definition) bool {
	if strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") {
		return false
	}
	sentence := lastSentence(text)
	if promises().MatchString(sentence) {
		return false
	}
	if announcements().MatchString(sentence) || strings.HasSuffix(sentence, "します") || strings.HasSuffix(sentence, "しましょう") || strings.HasSuffix(sentence, "하겠습니다") {
		return true
	}
	return false
}

// unfinishedText reports whether the last sentence is incomplete or introduces something missing.
func unfinishedText(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	switch {
	case strings.ContainsRune(":：,，;；…-—(「（", last):
		return true
	case strings.HasSuffix(text, "..."):
		return true
	}
	return false
}

func callMarks() []string {
	return []string{"<tool_call", "<function=", "<function_call", "<invoke ", "<|tool_call", "<｜tool▁call", "<|python_tag|>", "[TOOL_CALLS]", "<|tool_calls", "<tools>", "<TOOLCALL>"}
}

// endsInCall reports whether a text ends with call markup that is no example.
func endsInCall(text string) bool {
	if strings.Count(text, "```")%2 == 1 {
		return false
	}
	for _, mark := range callMarks() {
		if strings.IndexByte(text, mark[0]) < 0 {
			continue
		}
		at := strings.LastIndex(text, mark)
		if at < 0 || at > 0 && text[at-1] == '`' || strings.Count(text[:at], "```")%2 == 1 {
			continue
		}
		before := strings.TrimRight(text[:at], " \t")
		if before != "" && !strings.HasSuffix(before, "\n") && !strings.HasSuffix(before, ".") && !strings.HasSuffix(before, ":") && !strings.HasSuffix(before, ">") {
			continue // inside a sentence
		}
		if begun := strings.TrimLeft(text[at+len(mark):], "s>|_calbegin▁\n "); begun != "" && strings.ContainsRune(`{[<"`, rune(begun[0])) {
			return true // even without its end mark
		}
		end := text[len(text)-1]
		return end == '>' || end == '}' || end == ']' || end == '|' || !strings.ContainsFunc(text[at:], unicode.IsSpace)
	}
	return bareCall(text)
}

var callObject = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\{\s*"(?:name|tool|function)"\s*:\s*"[\w.-]+"\s*,\s*"(?:arguments|parameters|args|input)"\s*:\s*\{`)
})

// bareCall reports whether a text is nothing but a JSON object with a name and arguments, bare or
// fenced.
func bareCall(text string) bool {
	if inner, fenced := strings.CutPrefix(text, "```"); fenced {
		_, inner, _ = strings.Cut(inner, "\n")
		text = strings.TrimSpace(strings.TrimSuffix(inner, "```"))
	}
	unclosed := strings.Count(text, "{") > strings.Count(text, "}")
	return (unclosed || strings.HasSuffix(text, "}")) && callObject().MatchString(text)
}
