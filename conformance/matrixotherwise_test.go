package conformance_test

import "github.com/clichain/clichain/conformance/home"

// otherwise says why a scenario has another verdict than the one wanted, by CLI.
var otherwise = map[string]map[string]string{
	home.Cline: {
		"tool-read":   "cline has no access read: its tools can be denied by name only.",
		"tool-write":  "as access read.",
		"text-ok":     "cline's text mode decorates the answer for a terminal.",
		"bad-session": "cline continues a session in its terminal interface only.",
	},
	home.Codex: {
		"500": "codex tells a status 500 in the words that it has for overload: \"We're currently experiencing high demand\".",
	},
	home.Kilo: {
		"loggedout": "as opencode, from which it was made.",
	},
	home.Kimi: {
		"tool-write": "kimi has no access write: it lets an agent do all or nothing but read.",
		"text-ok":    "kimi has no text mode that tells its answer from its other words.",
	},
	home.Qwen: {
		"empty": "0.24.4 tells of another try and not why: a run that is given up for it counts as a failure of the service. " +
			"With no other backend it ends as `empty`.",
	},
	home.OpenCode: {
		"loggedout": "opencode knows the models of a vendor by its login: without one it says that there is no such model.",
	},
}
