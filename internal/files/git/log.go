package git

import (
	"context"
	"fmt"
)

// Subjects returns the subjects of the newest commits on HEAD, at most n; none before the first
// commit.
func (r *Repo) Subjects(ctx context.Context, n int) (subjects []string, err error) {
	head, err := r.Resolve(ctx, "HEAD")
	if isCode(err, CodeNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = r.records(ctx, func(subject string) { subjects = append(subjects, subject) },
		"log", "-z", "--format=tformat:%s", "--no-patch", "--no-show-signature", "--no-color", "--no-decorate",
		"--encoding=UTF-8", fmt.Sprintf("--max-count=%d", n), head, "--")
	return subjects, err
}
