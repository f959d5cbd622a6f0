package uistream

import (
	"encoding/json"

	"adze/internal/text/redact"
)

// Header says what follows, as headers of HTTP.
func Header(set func(name, value string)) {
	set("Cache-Control", "no-cache")
	set("X-Accel-Buffering", "no")
	set("Content-Type", "text/event-stream")
	set("X-Vercel-AI-UI-Message-Stream", "v1")
}

// Done ends a stream: readers take one without an end for a broken one.
const Done = "data: [DONE]\n\n"

// Append adds a part to b. Mask hides secrets; if nil, only those that are known by their look.
func Append(b []byte, p Part, mask func() *redact.Masker) []byte {
	raw, err := json.Marshal(p)
	if err != nil { // only blocks of a tool's broken metadata could do this
		raw, _ = json.Marshal(Part{Type: "data-notice", Data: Notice{"a part could not be encoded: " + err.Error()}, Transient: true})
	}
	b = append(b, "data: "...)
	b = append(b, Options{Mask: mask}.mask().JSON(raw)...)
	return append(b, '\n', '\n')
}
