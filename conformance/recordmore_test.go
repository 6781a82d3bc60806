package conformance_test

import (
	"net/http"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// recordedCLIs returns the CLIs that have recordings.
func recordedCLIs() []string {
	return append(home.Names(), home.Copilot, home.Kimi, home.Pi, home.Kilo, home.Cline, home.Qwen)
}

// unfit are the scenes that a CLI cannot play, because it lacks the access level or the output mode.
var unfit = map[string][]string{
	home.Kimi:  {"tool-write", "tool-denied", "text-ok", "text-400"},
	home.Cline: {"tool-read", "tool-write", "tool-denied", "text-ok", "text-400", "bad-session"},
}

func copilotScenes() []scene {
	shell := shell(home.Copilot, "echo ran")
	return []scene{
		plays("quota", loopback.Error(http.StatusTooManyRequests, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.")).within(tries),
		plays("output-limit", loopback.Full(loopback.Text("First. ")), loopback.Text("Second.")),
		plays("text-401", problem(home.Copilot, http.StatusUnauthorized)).in("text"),
		plays("text-tool-remark", loopback.Join(loopback.Text("Let me look."), shell), loopback.Text("Done.")).by(clichain.AccessFull).in("text"),
		plays("unchecked-token", loopback.Text("never")).as(home.LoggedOut).under("COPILOT_GITHUB_TOKEN=ghu_" + home.LongKey),
	}
}

func kimiScenes() []scene {
	shell := shell(home.Kimi, "echo ran")
	return []scene{
		plays("quota", loopback.Error(http.StatusTooManyRequests, "exceeded_current_quota_error", "Your account is suspended, please check your plan and billing details")).within(tries),
		plays("balance", loopback.Error(http.StatusTooManyRequests, "exceeded_current_quota_error", "Your account has insufficient balance, please recharge your account")).within(tries),
		plays("max-turns", shell, shell).by(clichain.AccessFull).limited(clichain.Options{MaxTurns: 1}),
	}
}

func clineScenes() []scene {
	return []scene{
		plays("402", loopback.Error(http.StatusPaymentRequired, "insufficient_credits", "Insufficient credits. Add more to continue.")),
		plays("full", loopback.Full(loopback.Text(hello))),
		plays("fails-inside", loopback.Fail("server_error", "The server had an error while processing your request.")).within(tries),
		plays("quota", loopback.Error(http.StatusTooManyRequests, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.")).within(tries),
		plays("bad-effort", loopback.Text("never")).limited(clichain.Options{Effort: "extreme"}),
	}
}
