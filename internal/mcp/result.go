package mcp

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp/wire"
	"adze/tool"
)

// Limits of one result. The tool pipeline shortens its text for the model; the transport limits the
// whole.
const (
	maxAnswer   = wire.MaxMessage
	maxPictures = 8
)

// Content converts a server's content to text and images that models accept. Other content is only
// named.
func Content(all []sdk.Content) (text string, pictures []tool.Attachment) {
	var parts []string
	add := func(s string) { parts = append(parts, strings.TrimRight(Clean(s, maxAnswer), "\n")) }
	show := func(media string, data []byte) {
		kind := http.DetectContentType(data) // the server's type is not trusted
		switch {
		case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind):
			add(fmt.Sprintf("(%s, %d bytes, which cannot be shown)", Line(media, 60), len(data)))
		case len(pictures) == maxPictures:
			add(fmt.Sprintf("(another picture, %d bytes; %d are shown)", len(data), maxPictures))
		default:
			pictures = append(pictures, tool.Attachment{Name: fmt.Sprintf("picture %d", len(pictures)+1), MediaType: kind, Data: data})
			add(fmt.Sprintf("(picture %d)", len(pictures)))
		}
	}
	for _, one := range all {
		switch c := one.(type) {
		case *sdk.TextContent:
			add(c.Text)
		case *sdk.ImageContent:
			show(c.MIMEType, c.Data)
		case *sdk.AudioContent:
			add(fmt.Sprintf("(%s, %d bytes, which cannot be heard)", Line(c.MIMEType, 60), len(c.Data)))
		case *sdk.ResourceLink:
			add(fmt.Sprintf("resource %s (%s)", Line(c.URI, 500), Line(strings.TrimSpace(c.Name+" "+c.MIMEType), 200)))
		case *sdk.EmbeddedResource:
			switch r := c.Resource; {
			case r == nil:
			case r.Blob != nil:
				add("resource " + Line(r.URI, 500) + ":")
				show(r.MIMEType, r.Blob)
			default:
				add("resource " + Line(r.URI, 500) + ":\n" + r.Text)
			}
		default:
			add(fmt.Sprintf("(content of a kind that adze does not know: %T)", one))
		}
	}
	return strings.Join(parts, "\n"), pictures
}
