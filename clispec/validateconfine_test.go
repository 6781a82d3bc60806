package clispec_test

import (
	"testing"

	"github.com/clichain/clichain/call"
)

var malformedConfine = []malformed{
	{"state without a path", func(s *spec) { s.Confine.State[0].Path = "" }, "confine.state[0].path", "is not a path"},
	{"relative state", func(s *spec) { s.Confine.State[0].Path = ".mine" }, "confine.state[0].path", "must start with"},
	{"state in the working directory", func(s *spec) { s.Confine.State[0].Path = "./.mine" }, "confine.state[0].path", "must start with"},
	{"relative default of the state", func(s *spec) { s.Confine.State[0].Path = "${MINE_HOME:-.mine}" }, "confine.state[0].path", "must start with"},
	{"working directory as the default", func(s *spec) { s.Confine.State[0].Path = "${MINE_HOME:-./mine}" }, "confine.state[0].path", "must start with"},
	{"home directory as the state", func(s *spec) { s.Confine.State[0].Path = "~" }, "confine.state[0].path", "permits the whole home"},
	{"home directory with a slash", func(s *spec) { s.Confine.State[0].Path = "~/" }, "confine.state[0].path", "permits the whole home"},
	{"home directory as the default", func(s *spec) { s.Confine.State[0].Path = "${MINE_HOME:-~}" }, "confine.state[0].path", "permits the whole home"},
	{"root directory as the state", func(s *spec) { s.Confine.State[0].Path = "/" }, "confine.state[0].path", "permits the whole home"},
	{"parent directory in a path", func(s *spec) { s.Confine.State[0].Path = "~/.mine/../.ssh" }, "confine.state[0].path", "must not contain"},
	{"parent directory after a variable", func(s *spec) { s.Confine.State[0].Path = "${MINE_HOME}/.." }, "confine.state[0].path", "must not contain"},
	{"NUL in a path", func(s *spec) { s.Confine.State[0].Path = "~/a\x00" }, "confine.state[0].path", "NUL"},
	{"repeated state", func(s *spec) { s.Confine.State[1].Path = s.Confine.State[0].Path }, "confine.state[1].path", "is also in confine.state[0].path"},
	{"watched parent directory", func(s *spec) { s.Confine.State[0].Watch[1] = "../hooks" }, "confine.state[0].watch[1]", "must be the path"},
	{"absolute watched path", func(s *spec) { s.Confine.State[0].Watch[1] = "/hooks" }, "confine.state[0].watch[1]", "must be the path"},
	{"unclean watched path", func(s *spec) { s.Confine.State[0].Watch[1] = "hooks/" }, "confine.state[0].watch[1]", "must be the path"},
	{"whole directory as the watched path", func(s *spec) { s.Confine.State[0].Watch[1] = "." }, "confine.state[0].watch[1]", "is the whole directory"},
	{"empty watched path", func(s *spec) { s.Confine.State[0].Watch[1] = "" }, "confine.state[0].watch[1]", "must be the path"},
	{"empty watched path in a file", func(s *spec) { s.Confine.State[1].Watch = []string{"servers", ""} }, "confine.state[1].watch[1]", "is not a path"},
	{"variable in the middle of a path", func(s *spec) { s.Confine.Read[1] = "/etc/${MINE}" }, "confine.read[1]", "is not a path"},
	{"relative path to read", func(s *spec) { s.Confine.Read[1] = "certs" }, "confine.read[1]", "must start with"},
	{"state as a path to read", func(s *spec) { s.Confine.Read[1] = "~/.mine.json" }, "confine.read[1]", "is also in confine.state[1].path"},
	{"own confinement at an unknown level", func(s *spec) { s.Confine.Own[0] = 9 }, "confine.own[0]", "is not an access level"},
	{"repeated level", func(s *spec) { s.Confine.Own = []call.Access{1, 2, 1} }, "confine.own[2]", "is also in confine.own[0]"},
}

func TestMalformedConfine(t *testing.T) { requireMistakes(t, malformedConfine) }
