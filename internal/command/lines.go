package command

import "github.com/spf13/cobra"

// linesHelp is adze help lines: how a program holds a conversation over stdin and stdout.
func linesHelp() *cobra.Command {
	return &cobra.Command{Use: "lines", Short: "How a program holds a conversation over stdin and stdout",
		Long: `    adze -p --input-format stream-json --output-format stream-json [words of a first prompt]

Each line on stdin is one JSON object, each on stdout too (README.md has their table). What a program writes:

    {"type":"prompt","text":"…","attach":["a.png"],"id":"p1"}   a turn; one that comes early waits for the one before
    {"type":"steer","text":"…"}                               the running turn reads it with its next request; else it is a prompt
    {"type":"answer","question":"q1", …}                      to a question, below
    {"type":"abort"}   {"type":"abort","call":"call_1"}       the running turn, or one running call of it; the conversation goes on
    {"type":"user","message":{"role":"user","content":"…"}}   a prompt as other assistants read it; texts only

What it gets beside the other lines:

    question   question kind choices …  waits for an answer. Of kind permission: call name need offers? editable? hunks? preview?;
               of kind inquiry (the model asks, or shows its plan): text, choices
    turn       the fields of result, and prompt: the id. One at the end of each turn; the only result is the last line: the end
               of the last turn, with the sums of all
    unread     line message hint?       the line of this number on stdin (from 1) had no effect

A permission is answered with "choice": "once", "no" with a "reason", or "session", which puts the offer of that number ("offer",
from 0) in force until the process ends. With "once", "text" runs the call with another text in place of the editable one, and
"refused": [2] takes back hunks of the preview, counted from 1, for a "reason". An inquiry is answered with "text", or "choice".
An answer that cannot be followed is unread, and its question still waits.

Each prompt has its own budget (--max-turns and the like). At the end of stdin what was asked for is done, questions are denied as
without anybody, and the run ends with the exit code of its last turn. Lines have at most 16 MiB.`}
}
