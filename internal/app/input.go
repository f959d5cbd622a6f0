package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/desk"
	"adze/internal/place"
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
		if why := w.gate.Forbids(tool.Need{Permission: tool.Read, Target: place.Absolute(path)}); why != "" {
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

// maxInput bounds what is read from stdin; more would not fit any model.
const maxInput = 10 << 20

// stdinPatience is how long a pipe beside a prompt may stay silent. Who starts adze from a program often leaves stdin
// open without a thought, and a run must not wait for that for ever; a command that is piped in takes a moment to speak.
const stdinPatience = 3 * time.Second

// piped reads stdin to its end, unless it is a terminal or another device. A pipe that stays silent is left when there
// is a prompt beside it and nobody asked for stdin by "-". ctx ends every wait.
func (a *app) piped(ctx context.Context, beside, asked bool) (string, error) {
	info, err := a.In.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 && !asked {
		return "", nil // no stdin at all is as good as an empty one
	}
	if info.IsDir() {
		return "", misuse("pipe text in, or leave stdin alone", "stdin is a directory")
	}
	var patience <-chan time.Time // nil: for ever
	if beside && !asked && !info.Mode().IsRegular() {
		patience = a.timer(stdinPatience)
	}
	spoken, done := make(chan struct{}), make(chan input, 1)
	go readInput(a.In, spoken, done)
	select {
	case <-patience:
		select {
		case <-spoken:
		default:
			fmt.Fprintf(a.Err, "! nothing came from stdin for %s: it is left. Give - beside the prompt to wait for it, or </dev/null not to\n", stdinPatience)
			return "", nil
		}
	case <-spoken:
	case <-ctx.Done():
	}
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case r := <-done:
		return r.text()
	}
}

// timer tells when a time is over.
func (a *app) timer(d time.Duration) <-chan time.Time {
	if a.after != nil {
		return a.after(d)
	}
	return time.After(d)
}

// input is what was read, to its end or to a failure.
type input struct {
	raw []byte
	err error
}

// readInput closes spoken when the first byte or the end has come.
func readInput(from io.Reader, spoken chan<- struct{}, done chan<- input) {
	in := bufio.NewReader(io.LimitReader(from, maxInput+1))
	_, _ = in.Peek(1) // what is wrong is met again below
	close(spoken)
	raw, err := io.ReadAll(in)
	done <- input{raw, err}
}

func (i input) text() (string, error) {
	if i.err != nil {
		return "", fmt.Errorf("read stdin: %w", i.err)
	}
	if len(i.raw) > maxInput {
		return "", misuse("put it in a file and name the file in the prompt", "stdin is longer than %d MiB", maxInput>>20)
	}
	return string(i.raw), nil
}
