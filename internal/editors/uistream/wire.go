package uistream

import (
	"encoding/json"

	"adze/internal/text/redact"
)

// Header sets the stream's HTTP headers.
func Header(set func(name, value string)) {
	set("Cache-Control", "no-cache")
	set("X-Accel-Buffering", "no")
	set("Content-Type", "text/event-stream")
	set("X-Vercel-AI-UI-Message-Stream", "v1")
}

// Done ends a stream: readers treat one without it as broken.
const Done = "data: [DONE]\n\n"

// Append appends an encoded part to b. mask masks secrets; nil masks only those recognized by their
// shape.
func Append(b []byte, p Part, mask func() *redact.Masker) []byte {
	raw, err := json.Marshal(p)
	if err != nil { // only blocks from a tool's invalid metadata could cause this
		raw, _ = json.Marshal(Part{Type: "data-notice", Data: Notice{"a part could not be encoded: " + err.Error()}, Transient: true})
	}
	b = append(b, "data: "...)
	b = append(b, Options{Mask: mask}.mask().JSON(raw)...)
	return append(b, '\n', '\n')
}
