package acp

import (
	"cmp"
	"strings"

	sdk "github.com/coder/acp-go-sdk"
)

// commands tells what a prompt can begin with: the commands and skills of the user and the
// project. They are run by sending them as they are written, /name and its arguments.
func (t *thread) commands() {
	list := []sdk.AvailableCommand{}
	for _, c := range t.now().Commands() {
		of := sdk.AvailableCommand{Name: c.Name, Description: cmp.Or(c.Help, c.From, c.Name)}
		if strings.TrimSpace(c.Args) == "" && c.Args != "" { // it takes none
			list = append(list, of)
			continue
		}
		of.Input = &sdk.AvailableCommandInput{Unstructured: &sdk.UnstructuredCommandInput{Hint: cmp.Or(c.Args, "what it is about")}}
		list = append(list, of)
	}
	t.post(sdk.SessionUpdate{AvailableCommandsUpdate: &sdk.SessionAvailableCommandsUpdate{AvailableCommands: list}})
}
