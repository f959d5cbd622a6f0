package toolset

import (
	"context"
	"errors"
	"fmt"

	"adze/internal/files/imagescale"
	"adze/tool"
)

// Limits for a stored image: no model uses more pixels, and it stays in the session's log. The file
// itself may be larger.
const (
	pictureSide  = 3072
	pictureBytes = 5 << 20
	pictureFile  = 64 << 20
)

// picture returns an attachment, scaled down if it exceeds the models' limits, and a note about
// that.
func picture(ctx context.Context, a tool.Attachment) (tool.Attachment, string, error) {
	p, err := heavy(ctx, pictureWork(a.Data), func() (imagescale.Picture, error) {
		return imagescale.Fit(ctx, a.Data, imagescale.Limit{Side: pictureSide, Bytes: pictureBytes})
	})
	switch {
	case ctx.Err() != nil:
		return a, "", ctx.Err()
	case errors.Is(err, imagescale.ErrLarge):
		return a, "", tool.Fail(tool.CodeTooLarge, "%s has %w, more than can be scaled here; make it smaller with bash first", a.Name, err)
	case err != nil && len(a.Data) > pictureBytes:
		return a, "", tool.Fail(tool.CodeTooLarge, "%s has %d bytes and cannot be scaled (%w); convert it with bash first", a.Name, len(a.Data), err)
	case err != nil:
		return a, "the file is damaged or no picture that can be read, and is not shown", nil
	case !p.Scaled():
		return a, "", nil
	}
	a.Data, a.MediaType = p.Data, p.Media
	return a, fmt.Sprintf("scaled from %d×%d to %d×%d pixels, %d bytes", p.FromWidth, p.FromHeight, p.Width, p.Height, len(p.Data)), nil
}

// pictureWork returns the size of the decoded image in bytes.
func pictureWork(data []byte) int {
	w, h, err := imagescale.Size(data)
	if err != nil {
		return 0
	}
	return 4 * w * h
}
