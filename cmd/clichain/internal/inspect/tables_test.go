package inspect

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/clichain/clichain/doctor"
	"github.com/stretchr/testify/require"
)

// noon is a time in a zone of the tests.
var noon = time.Date(2027, 2, 3, 12, 0, 0, 0, time.FixedZone("here", 3600))

// everyState returns a report with a backend in each state, problems of all kinds, and texts with control characters.
func everyState() checkup {
	fiveHours := call.QuotaWindow{Name: "five_hour", Used: new(0.63), Length: 5 * time.Hour, ResetsAt: noon.Add(5 * time.Hour).UTC()}
	container := doctor.Problem{Code: "container", Message: "this is a container (/run/.containerenv)", Hint: "give it the credentials of the CLIs, which are not in the image, as variables or as files"}
	return checkup{
		Report: doctor.Report{Ready: 3, Backends: []doctor.Diagnosis{
			{Name: "claude", Installed: true, Path: "/usr/local/bin/claude", Version: "2.1.329 (Claude Code)", Login: clispec.LoginAuthenticated, Evidence: "ANTHROPIC_API_KEY", Billing: "api_key", Window: &fiveHours, Problems: []doctor.Problem{container}},
			{Name: "codex-of-the-company", Installed: true, Path: "/home/user/.local/share/some/where/far/below/node_modules/.bin/codex", Login: clispec.LoginUnknown, Evidence: "nothing that can be seen", Problems: []doctor.Problem{container}},
			{Name: "gemini", Installed: true, Path: "/usr/bin/gemini", Login: clispec.LoginAuthenticated, Problems: []doctor.Problem{{Code: doctor.CodeSlow, Message: "--version gave no answer in 9.2s: it is slow or hangs", Hint: "run `/usr/bin/gemini --version` to see which"}}},
			{Name: "kilo", SuppressedBy: "SKIP_CLI", Installed: true, Path: "/usr/bin/kilo", Problems: []doctor.Problem{{Code: "suppressed", Message: "suppressed by SKIP_CLI=kilo", Hint: "unset SKIP_CLI"}}},
			{Name: "odd\x1b[2J\nname", Login: clispec.LoginNotFound, Problems: []doctor.Problem{{Code: "not_installed", Message: `no program "odd" on PATH`, Hint: "npm install -g @some-vendor/a-package-with-a-name-that-is-longer-than-sixty-columns"}}},
			{Name: "agy", Installed: true, Path: "/usr/bin/agy", Login: clispec.LoginUnknown, Problems: []doctor.Problem{{Code: CodeUnasked, Message: selection.UnaskedText("agy"), Hint: selection.UnaskedHint("agy")}}},
		}},
		Problems: []doctor.Problem{{Code: "bad_option", Message: `CLICHAIN_ORDER: unknown backend "nope": known are claude, gemini, cursor-agent, opencode, codex`, Hint: "correct the name: until then every call is refused"}},
		Settings: settingsReport{File: "/home/user/.config/clichain/config.yaml", Found: true, Profile: "work", Settings: everySetting()},
	}
}

func everySetting() []settingRow {
	return []settingRow{
		{Name: "order", Value: "claude,codex-of-the-company,gemini,nope", Source: "variable", Variable: selection.OrderVariable},
		{Name: "timeout", Value: "1m0s", Source: "file", Line: 2},
		{Name: "budget", Source: "default"},
		{Name: "specs", Value: strings.Repeat("/home/user/.config/clichain/specs/mine.yaml:", 3) + "/etc/more.yaml", Source: "profile", Profile: "work", Line: 12},
		{Name: "billing", Value: "any", Source: "default"},
	}
}

func TestDoctorTable(t *testing.T) {
	consoletest.Golden(t, "doctor", func(paint console.Style, width int) string { return doctorTable(everyState(), paint, width, noon) },
		"\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m")
	wide := doctorTable(everyState(), console.Style{}, math.MaxInt, noon)
	require.Contains(t, wide, "✓ claude                ready          logged in: ANTHROPIC_API_KEY")
	require.NotContains(t, wide, "…")
}

func TestSettingsTable(t *testing.T) {
	consoletest.Golden(t, "config", func(paint console.Style, width int) string {
		p := console.NewPage(paint, width)
		settingLines(p, everySetting())
		return p.String()
	}, "\x1b[2m", "\x1b[0m")
}
