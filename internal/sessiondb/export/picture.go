package export

import (
	"crypto/sha256"
	"fmt"

	"adze/internal/text/hypertext"
	"adze/tool"
)

// maxPicture limits an exported picture, in bytes.
const maxPicture = 5 << 20

// attachment returns a user's picture, or a line about an attachment that is not exported.
func (g *gatherer) attachment(a tool.Attachment) Part {
	kind := hypertext.PictureType(a.Data)
	if kind == "" || len(a.Data) > maxPicture {
		return Part{Text: fmt.Sprintf("[attachment %s was left out: %d bytes, sha256 %x]", g.scrub.name(a.Name), len(a.Data), sha256.Sum256(a.Data))}
	}
	return Part{Picture: &Picture{Name: g.scrub.name(a.Name), MediaType: kind, Data: a.Data}}
}
