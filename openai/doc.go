// Package openai serves OpenAI's HTTP API with a clichain backend. Programs in any language then use the CLIs of this
// machine: they need only another base URL and the token.
//
//	handler := openai.NewHandler(chain, &openai.Config{Token: token})
//	log.Fatal(http.ListenAndServe("127.0.0.1:8484", handler))
//
// The handler answers requests for text, whole or as a stream. Its requests give a CLI no access to files or tools. It
// refuses fields that CLIs do not support, with the name of the field in the error; docs/reference/http.md lists all
// fields.
//
// Listen on a loopback address or a Unix socket only: any client with the token can spend the plans of the CLIs.
package openai
