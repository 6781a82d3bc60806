package conformance_test

import "github.com/clichain/clichain/conformance/home"

// otherwise explains unexpected verdicts, by CLI and scenario.
var otherwise = map[string]map[string]string{
	home.Cline: {
		"tool-read":   "cline has no access read, because its tools can be denied only by name.",
		"tool-write":  "cline has no access write, for the same reason.",
		"text-ok":     "cline's text mode decorates the answer for a terminal.",
		"bad-session": "cline continues a session only in its terminal interface.",
	},
	home.Codex: {
		"500": "codex reports status 500 with its message for an overload: \"We're currently experiencing high demand\".",
	},
	home.Kilo: {
		"loggedout": "kilo is a fork of opencode and has the same behavior.",
	},
	home.Kimi: {
		"tool-write": "kimi has no access write: it permits an agent either everything or only reading.",
		"text-ok":    "kimi has no text mode that separates its answer from other output.",
	},
	home.Qwen: {
		"empty": "0.24.4 reports a retry without its cause, so the chain ends the run as a failure of the service. " +
			"Without another backend the run ends as `empty`.",
	},
	home.OpenCode: {
		"loggedout": "opencode knows the models of a vendor only with a login; without one it reports that the model does not exist.",
	},
}
