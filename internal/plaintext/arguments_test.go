package plaintext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTelling(t *testing.T) {
	for _, args := range []string{
		"--token=abc", "--token abc", "--api-key|abc", "--apiKey=abc", "-H|Authorization: Bearer abc", "--header|Authorization:Basic|YTpi", "X-Api-Key: abc",
		"PASSWORD=abc", "-e|GITHUB_TOKEN=abc", "sh|-c|DB_PASSWORD='abc' server", "--client-secret 's'", "--auth user:pw", "--pat abc", "--passphrase=a",
		"https://user:pw@host/", "https://token@host/mcp", "https://host/mcp?key=1", "https://host/mcp#x", "--url=https://host/?a=b", "postgres://u:p@db/x",
		"DSN=\"https://h/?k=v\"", "https://h/%zz", looks("sk-", 24), "x=" + looks("ghp_", 24), "https://h/" + looks("sk-", 24) + "/mcp",
	} {
		require.True(t, Telling(strings.Split(args, "|")), args)
	}
	for _, args := range []string{
		"", "-y|@modelcontextprotocol/server-filesystem|/data/a b", "--fast", "--max-tokens=5000", "--max-tokens 5000", "--auth=false", "--author=jane",
		"https://mcp.example.com/v1/mcp", "--url https://mcp.example.com", "--port 8080", "server.js|tokens", "key", "--no-auth|--port|80", "C:\\tools\\mcp.exe",
		"--log=debug", "a:b", "--token=", "--cookie off",
	} {
		require.False(t, Telling(strings.Split(args, "|")), args)
	}
	require.False(t, TellingURL("https://mcp.example.com:8443/v1/mcp"))
	require.False(t, TellingURL("no address? none"))
}
