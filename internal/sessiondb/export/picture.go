package export

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"adze/tool"
)

// maxPicture bounds, in bytes, a picture that a document holds.
const maxPicture = 5 << 20

// pictureType is what a picture is by its content; if empty, it is none that a browser shows
// without running anything.
func pictureType(data []byte) string {
	head := string(data[:min(len(data), 16)])
	switch {
	case strings.HasPrefix(head, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case strings.HasPrefix(head, "\xff\xd8\xff"):
		return "image/jpeg"
	case strings.HasPrefix(head, "GIF87a"), strings.HasPrefix(head, "GIF89a"):
		return "image/gif"
	case strings.HasPrefix(head, "RIFF") && len(head) == 16 && head[8:14] == "WEBPVP":
		return "image/webp"
	}
	return ""
}

// attachment is a picture of the user's, or a line that says what is not shown.
func (g *gatherer) attachment(a tool.Attachment) Part {
	kind := pictureType(a.Data)
	if kind == "" || len(a.Data) > maxPicture {
		return Part{Text: fmt.Sprintf("[attachment %s was left out: %d bytes, sha256 %x]", g.scrub.name(a.Name), len(a.Data), sha256.Sum256(a.Data))}
	}
	return Part{Picture: &Picture{Name: g.scrub.name(a.Name), MediaType: kind, Data: a.Data}}
}
