package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	groundwirev1 "groundwire/v1"
)

type options struct {
	server, ca, cert, key, tokenFile       string
	repository, branch, query, call        string
	phrasings                              []string
	access                                 *groundwirev1.AccessContext
	filter                                 *groundwirev1.NodeFilter
	searchType                             groundwirev1.SearchType
	topK, maxDepth, maxNodes, budgetTokens int32
	deadline                               time.Duration
	secured                                bool
}

// parseOptions ends the program with exit code 2 for options that cannot be used; whether a number is in range is the
// server's say.
func parseOptions() options {
	settings := options{
		call: "actions",
		topK: 5, maxDepth: 1, maxNodes: 50, budgetTokens: 2000,
		deadline: 10 * time.Second,
	}
	flag.StringVar(&settings.server, "server", "localhost:50051", "`HOST:PORT` of the server")
	flag.StringVar(&settings.ca, "ca", "", "PEM `file` of the authority that signed the server's certificate; plaintext without -ca, -cert and -key")
	flag.StringVar(&settings.cert, "cert", "", "PEM `file` of the client's certificate chain")
	flag.StringVar(&settings.key, "key", "", "PEM `file` of the certificate's key")
	flag.StringVar(&settings.repository, "repository", "", "where to search (required)")
	flag.StringVar(&settings.branch, "branch", "", "where to search (required)")
	flag.StringVar(&settings.query, "query", "", "what to look for (required)")
	flag.Func("call", "actions (search, expand, fetch; the default) or evidence (one call)", settings.setCall)
	flag.Func("phrasing", "for evidence: the query in the words of code, such as \"sign cookie secret_key\"", settings.addPhrasing)
	flag.Func("acl-tags", "what the caller may see besides public nodes, such as billing,legal", settings.setAccess)
	flag.Func("languages", "texts of these languages alone, such as csharp,sql", settings.setFilter)
	flag.Func("search-type", "hybrid, semantic or bm25 (default: what the index has data for)", settings.setSearchType)
	flag.Func("top-k", "most hits (default 5)", number(&settings.topK))
	flag.Func("max-depth", "edges from a hit (default 1)", number(&settings.maxDepth))
	flag.Func("max-nodes", "most nodes of the walk (default 50)", number(&settings.maxNodes))
	flag.Func("budget-tokens", "most tokens of text (default 2000)", number(&settings.budgetTokens))
	flag.Func("deadline", "`seconds` for each call, its retries included (default 10)", settings.setDeadline)
	flag.StringVar(&settings.tokenFile, "token-file", "", "`file` of a bearer token, read anew for each attempt; only over TLS")
	flag.Parse()
	given := map[string]bool{}
	flag.Visit(func(visited *flag.Flag) { given[visited.Name] = true })
	required := []string{"repository", "branch", "query"}
	if settings.secured = given["ca"] || given["cert"] || given["key"] || given["token-file"]; settings.secured {
		required = append([]string{"ca", "cert", "key"}, required...)
	}
	for _, name := range required {
		if !given[name] {
			fmt.Fprintf(flag.CommandLine.Output(), "-%s is required\n\n", name)
			flag.Usage()
			os.Exit(2)
		}
	}
	return settings
}

func (settings *options) setCall(text string) error {
	if text != "actions" && text != "evidence" {
		return errors.New("must be actions or evidence")
	}
	settings.call = text
	return nil
}

func (settings *options) addPhrasing(text string) error {
	settings.phrasings = append(settings.phrasings, text)
	return nil
}

func (settings *options) setAccess(text string) error {
	settings.access = &groundwirev1.AccessContext{AclTagsAny: strings.Split(text, ",")}
	return nil
}

func (settings *options) setFilter(text string) error {
	settings.filter = &groundwirev1.NodeFilter{Languages: strings.Split(text, ",")}
	return nil
}

func (settings *options) setSearchType(text string) error {
	value, known := groundwirev1.SearchType_value["SEARCH_TYPE_"+strings.ToUpper(text)]
	if !known || value == 0 {
		return errors.New("must be hybrid, semantic or bm25")
	}
	settings.searchType = groundwirev1.SearchType(value)
	return nil
}

func (settings *options) setDeadline(text string) error {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds > 0 && seconds <= 3600) {
		return errors.New("must be a number above 0 and at most 3600")
	}
	settings.deadline = time.Duration(seconds * float64(time.Second))
	return nil
}

func number(target *int32) func(string) error {
	return func(text string) error {
		value, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return errors.New("must be a whole number of 32 bits")
		}
		*target = int32(value)
		return nil
	}
}
