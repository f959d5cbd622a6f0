package hostio

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/files/attachments"
	"adze/internal/files/imagescale"
	"adze/internal/text/usage"
	"adze/tool"
)

// Attachments reads the files from --attach.
func Attachments(paths []string) ([]tool.Attachment, error) {
	var out []tool.Attachment
	for _, path := range paths {
		data, err := attachmentBytes(path)
		if err != nil {
			return nil, err
		}
		a, is := attachments.File(filepath.Base(path), data)
		if !is {
			return nil, usage.Mistake("name text files in the prompt instead; the model reads them itself", "--attach %s: %s is neither an image nor a PDF", path, http.DetectContentType(data))
		}
		a, err = Bounded(a)
		if err != nil {
			return nil, usage.Mistake("attach a smaller file", "--attach %s: %v", path, err)
		}
		out = append(out, a)
	}
	return out, nil
}

// Bounded returns an attachment for storage: pictures are scaled to the size models use, other
// files stay unchanged.
func Bounded(a tool.Attachment) (tool.Attachment, error) {
	picture := strings.HasPrefix(a.MediaType, "image/")
	if picture {
		p, err := imagescale.Fit(context.Background(), a.Data, imagescale.Limit{Side: pictureSide, Bytes: MaxAttachment})
		if errors.Is(err, imagescale.ErrLarge) {
			return a, err
		}
		if err == nil {
			a.Data, a.MediaType = p.Data, p.Media
		}
	}
	if len(a.Data) > MaxAttachment {
		return a, fmt.Errorf("only up to %d MiB", MaxAttachment>>20)
	}
	return a, nil
}

func attachmentBytes(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, usage.Mistake("check the path", "--attach: %v", err)
	}
	if !info.Mode().IsRegular() || info.Size() > MaxPicture {
		return nil, usage.Mistake("attach a smaller file", "--attach %s: only regular files up to %d MiB", path, MaxPicture>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, usage.Mistake("check the file's permissions", "--attach: %v", err)
	}
	return data, nil
}
