package conversation

import (
	"time"

	"adze/internal/llm/models"
	"adze/internal/llm/script"
	"adze/internal/run/demo"
	"adze/internal/run/flags"
)

// demoPace is the delay that makes the scripted text watchable; a headless demo has none.
const demoPace = 15 * time.Millisecond

func demoModel(o *flags.Request) models.Model {
	pace := demoPace
	if o.Print {
		pace = 0
	}
	return models.Model{Provider: script.New(script.Options{Script: demo.Script, Name: "demo", Pace: pace}), Name: "demo", Profile: models.Coder()}
}
