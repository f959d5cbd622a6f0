package archtest

// served are the rooms that work through a server.
func served() []Row {
	return []Row{
		{Package: "internal/jet", From: []string{"internal/app", "internal/far", "internal/store/stream", "internal/fleet/jetqueue"}, Why: "a server and what it is asked for; it knows neither sessions nor runs"},
		{Package: "internal/jet/jettest", Room: true, Why: "a program as tests need it"},
		{Package: "internal/store/stream", Room: true, May: []string{"session", "internal/jet", "internal/store"}, Tests: []string{"internal/store/storetest"}, Why: "logs on a server"},
		{Package: "internal/far", May: []string{"session", "internal/jet", "internal/store", "internal/usage"}, From: []string{"internal/app"}, Why: "it says where sessions are and copies them; it knows no run"},
	}
}
