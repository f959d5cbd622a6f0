package app

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/desk"
	"adze/session"
	"adze/tool"
)

// headlessPrompt joins the words of the command line with what is piped in. stdin says that it was asked for by "-".
func (a *app) headlessPrompt(ctx context.Context, words string, stdin bool) (string, error) {
	piped, err := a.piped(ctx, strings.TrimSpace(words) != "", stdin)
	if err != nil {
		return "", err
	}
	switch {
	case strings.TrimSpace(words) == "" && strings.TrimSpace(piped) == "":
		return "", misuse(`adze -p "what to do", or pipe the prompt in`, "there is no prompt")
	case strings.TrimSpace(piped) == "":
		return words, nil
	case strings.TrimSpace(words) == "":
		return piped, nil
	}
	return words + "\n\n<stdin>\n" + strings.TrimSuffix(piped, "\n") + "\n</stdin>", nil
}

// attachments reads the files of --attach.
func attachments(paths []string) ([]tool.Attachment, error) {
	var out []tool.Attachment
	for _, path := range paths {
		data, err := attachmentBytes(path)
		if err != nil {
			return nil, err
		}
		kind := http.DetectContentType(data)
		if !strings.HasPrefix(kind, "image/") && kind != "application/pdf" {
			return nil, misuse("name text files in the prompt instead; the model reads them itself", "--attach %s: %s is neither an image nor a PDF", path, kind)
		}
		out = append(out, tool.Attachment{Name: filepath.Base(path), MediaType: kind, Data: data})
	}
	return out, nil
}

func attachmentBytes(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, misuse("check the path", "--attach: %v", err)
	}
	if !info.Mode().IsRegular() || info.Size() > desk.MaxAttachment {
		return nil, misuse("attach a smaller file", "--attach %s: only regular files up to %d MiB", path, desk.MaxAttachment>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, misuse("check the file's permissions", "--attach: %v", err)
	}
	return data, nil
}

// mayAttach holds files that a person attaches to their rules: naming one answers what would be asked, and no deny.
func (w *wired) mayAttach(paths []string) error {
	for _, path := range paths {
		if why := w.gate.Forbids(tool.Need{Permission: tool.Read, Target: absolute(path)}); why != "" {
			return misuse("attach another file, or change the rule", "--attach %s: %s", path, why)
		}
	}
	return nil
}

// input is a prompt with its attachments.
func (o *options) input(prompt string) (session.Input, error) {
	files, err := attachments(o.attach)
	if err != nil {
		return session.Input{}, err
	}
	return session.Input{Text: prompt, Attachments: files}, nil
}
