package archtest

// served are the rooms that work through a server.
func served() []Row {
	return []Row{
		{Package: "internal/fleet/natsclient", From: []string{"internal/run", "internal/sessiondb/remote", "internal/sessiondb/natsstore", "internal/fleet/natsqueue"}, Why: "a server and what it is asked for; it knows neither sessions nor runs"},
		{Package: "internal/testkit/natstest", Room: true, Why: "a program as tests need it"},
		{Package: "internal/sessiondb/natsstore", Room: true, May: []string{"session", "internal/fleet/natsclient", "internal/sessiondb"}, Tests: []string{"internal/testkit/storetest"}, Why: "logs on a server"},
		{Package: "internal/sessiondb/remote", May: []string{"session", "internal/sessiondb/natsstore", "internal/fleet/natsclient", "internal/sessiondb", "internal/text/usage"}, From: []string{"internal/run", "internal/run/process", "internal/run/conversation"}, Why: "it says where sessions are and copies them; it knows no run"},
	}
}
