"""Prints the fingerprint of a tokeniser and the tokens of a text: `tokens code|prose TEXT`."""

import sys

from groundwire_index.text.code_tokenizer import TOKENIZER_FINGERPRINT, tokenize
from groundwire_index.text.prose_tokenizer import PROSE_TOKENIZER_FINGERPRINT, tokenize_prose

if sys.argv[1] == "code":
    print(TOKENIZER_FINGERPRINT, tokenize(sys.argv[2]))
else:
    print(PROSE_TOKENIZER_FINGERPRINT, tokenize_prose(sys.argv[2]))
