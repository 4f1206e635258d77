"""Methods that every program calls on collections, strings and streams: their name alone says nothing of a tree."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PYTHON = _words(
    """add append clear close copy count decode discard encode endswith extend find flush format get group groups
    index insert items join keys lower lstrip match open partition pop popitem read readline readlines remove
    replace reverse rfind rpartition rsplit rstrip search seek setdefault sort split splitlines start startswith
    strip sub tell title translate union update upper values write writelines"""
)

CSHARP = _words(
    """Add AddRange All Any Append AsEnumerable AsQueryable Clear Clone Close CompareTo Concat ConfigureAwait
    Contains ContainsKey CopyTo Count Dispose Distinct Equals Except Find First FirstOrDefault FirstOrDefaultAsync
    ForEach Format Get GetAwaiter GetEnumerator GetHashCode GetType GroupBy IndexOf Insert Invoke Join Last
    LastOrDefault Length Max Min Next OrderBy OrderByDescending Parse Read Remove RemoveAt Replace Reverse Run
    Select SelectMany Set SetValue Single SingleOrDefault Skip Sort Split Start StartsWith Stop Substring Sum Take
    ThenBy ToArray ToArrayAsync ToDictionary ToList ToListAsync ToLower ToString ToUpper Trim TryGetValue TryParse
    Union Where Write WriteLine Zip"""
)

JAVA = _words(
    """accept add addAll append apply build clear clone close collect compareTo contains containsKey copy count
    endsWith entrySet equals execute filter find findFirst flush forEach format get getClass getKey getMessage
    getName getOrDefault getValue hashCode indexOf intValue isEmpty isPresent iterator join keySet length map
    matches max min next of orElse put putAll read remove replace reverse run set setValue size sort split start
    startsWith stop stream substring test toArray toList toLowerCase toString toUpperCase trim update valueOf
    values write"""
)

KOTLIN = _words(
    """all also any apply associate associateBy await await cancel catch coerceAtLeast coerceAtMost collect drop
    emit filterNot filterNotNull firstOrNull flatMap fold groupBy ifEmpty invoke isBlank isNotEmpty isNullOrEmpty
    joinToString lastOrNull launch let mapNotNull minus none onEach onFailure onSuccess orEmpty plus receive reduce
    single singleOrNull sortedBy sum sumOf take takeIf toInt toLong toMap toMutableList toSet trim use with withContext
    zip"""
)

PHP = _words(
    """add all append attach build call clear close contains count create current delete diff each execute exists
    fetch fetchAll fill filter find first flush format get getAttribute getCode getId getMessage getName getParameter
    getValue handle has implode info isEmpty join key keys last limit load log make map merge name next offset only
    orderBy parse pluck prepare pull push put query read refresh register remove render replace reset run save send
    set setAttribute setParameter sort split start stop sum toArray toString update validate values where with write"""
)

SCRIPT = _words(
    """add addEventListener append apply bind call catch clear click close concat delete emit end endsWith entries
    error every exec filter finally find findIndex flatMap forEach get getItem has html includes indexOf info join
    keys log map match next on once open parse pop post push put reduce remove replace request resolve reverse
    send set setItem shift show slice some sort splice split start startsWith stop stringify subscribe substring
    test text then toLowerCase toString toUpperCase trim unshift update val values warn write"""
)

GO = _words(
    """Add Close Done Error Errorf Fatal Fatalf Get Len Less Lock Log Logf Name Next Print Printf Println Put Read
    Reset Run Scan Set Start Stop String Swap Unlock Unwrap Wait Write"""
)

GIVE_AN_ITEM = _words(
    """first firstordefault single singleordefault last lastordefault elementat find get pop next min max peek dequeue
    minby maxby orelsethrow orelse unwrap expect one scalarone findone"""
)
"""What a method of a collection that is called so returns: one of its items. In small letters, without `Async`."""

GIVE_THE_SAME = _words(
    """where filter orderby orderbydescending thenby include theninclude asqueryable asnotracking asenumerable skip take
    tolist toarray distinct reverse slice concat sorted stream iter order limit offset copy await configureawait"""
)
"""What a method of a collection that is called so returns: a collection of the same items."""
