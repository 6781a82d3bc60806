package loopback

import "net/http"

// codeAssistProtocol is what gemini asks of Google's Code Assist before its first model call, if it is logged in with
// a Google account: which plans the account may use. The server answers with none, as for individual accounts since
// June 2026.
var codeAssistProtocol = protocol{
	name:    CodeAssist,
	matches: endsWith(":loadCodeAssist", ":onboardUser"),
	read:    func(*http.Request, []byte) (view, bool) { return view{}, true },
	problem: geminiProtocol.problem,
	side: Status(http.StatusOK, nil, mustJSON(object{"done": true, "ineligibleTiers": []any{object{
		"reasonCode": "UNSUPPORTED_CLIENT", "reasonMessage": Ineligible,
		"tierId": "free-tier", "tierName": "Gemini Code Assist for individuals",
	}}})),
}

// Ineligible is the answer of Code Assist for the account.
const Ineligible = "This client is no longer supported for Gemini Code Assist for individuals. " +
	"To continue, migrate to the Antigravity suite of products."
