package clichain

// schemaPrompt asks for a structured answer in words, where the CLI has no
// flag for it.
func schemaPrompt(schema string) string {
	return "Answer with one JSON value that is valid under the following JSON Schema, and with nothing else: no explanation, no code fence.\n\n" + schema
}
