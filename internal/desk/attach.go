package desk

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/usage"
	"adze/tool"
)

// Attachments reads the files of --attach.
func Attachments(paths []string) ([]tool.Attachment, error) {
	var out []tool.Attachment
	for _, path := range paths {
		data, err := attachmentBytes(path)
		if err != nil {
			return nil, err
		}
		kind := http.DetectContentType(data)
		if !strings.HasPrefix(kind, "image/") && kind != "application/pdf" {
			return nil, usage.Mistake("name text files in the prompt instead; the model reads them itself", "--attach %s: %s is neither an image nor a PDF", path, kind)
		}
		out = append(out, tool.Attachment{Name: filepath.Base(path), MediaType: kind, Data: data})
	}
	return out, nil
}

func attachmentBytes(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, usage.Mistake("check the path", "--attach: %v", err)
	}
	if !info.Mode().IsRegular() || info.Size() > MaxAttachment {
		return nil, usage.Mistake("attach a smaller file", "--attach %s: only regular files up to %d MiB", path, MaxAttachment>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, usage.Mistake("check the file's permissions", "--attach: %v", err)
	}
	return data, nil
}
