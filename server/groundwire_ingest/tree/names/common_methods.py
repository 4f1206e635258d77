"""Methods that every program calls on collections, strings and streams. A name alone identifies no method of a tree."""


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
    """all also any apply associate associateBy await cancel catch coerceAtLeast coerceAtMost collect div drop emit
    filterNot filterNotNull firstOrNull flatMap fold groupBy ifEmpty invoke isBlank isNotEmpty isNullOrEmpty
    joinToString lastOrNull launch let mapNotNull minus minusAssign none onEach onFailure onSuccess orEmpty plus
    plusAssign rangeto receive reduce rem single singleOrNull sortedBy sum sumOf take takeIf times toInt toLong
    toMap toMutableList toSet trim use with withContext zip"""
)

PHP = _words(
    """add all append attach build call clear close contains count create current delete diff each execute exists
    fetch fetchAll fill filter find first flush format get getAttribute getCode getId getMessage getName getParameter
    getValue handle has implode info isEmpty join key keys last limit load log make map merge name next offset only
    orderBy parse pluck prepare pull push put query read refresh register remove render replace reset run save send
    set setAttribute setParameter sort split start stop sum toArray toString update validate values where with write"""
)

CPP = _words(
    """add all append assign at back begin c_str call capacity cbegin cend clear close compare contains copy count
    create data delete detach emplace emplace_back empty end erase exchange fill find find_if first flush front
    get get_id getline has_value hash height id index init insert is_open join key length load lock lower_bound
    max_size merge min move name next notify_all notify_one open operator[] parse pop pop_back pop_front precision
    prev print push push_back push_front put rbegin read ready release remove rend replace reserve reset resize
    run second seekg send set shrink_to_fit size sort splice start stop store str substr swap tellg test to_string
    top try_lock type unique unlock update upper_bound use_count value what width write"""
)

RUBY = _words(
    """abs add all all? any? append ask at blank? body build call capitalize ceil chars clear clone close collect
    compact concat constantize content count create create! data days default delete delete_all delete_if destroy
    destroy! detect dig downcase dup each each_slice each_with_index each_with_object empty? end_with? errors
    escape exist? exists? expect fetch file files filter find find_all find_by find_by! find_each
    find_or_create_by find_or_initialize_by first flat_map flatten format freeze from full_messages get get! group
    group_by gsub gsub! has_key? headers hour hours html_safe id include? includes index info inject insert
    inspect is_a? join joins key? keys kind_of? last length limit lines lock log map match match? max maximum
    merge merge! message method method_missing min minutes name new new_record? next nil? none? now on open order
    parse path persisted? pluck pop position post pred presence present? push put puts raise read redirect_to
    reduce regex reject reload remove render replace respond_to? result reverse rewind round run save save! scan
    select send set shift size slice sort sort_by split squish start start_with? status step strftime strip sub
    sub! succ sum symbolize_keys synchronize take tap test text then times title titleize to_a to_date to_f to_h
    to_hash to_i to_json to_param to_s to_str to_sym touch tr transaction transform_values trim truncate type
    underscore uniq unscoped unshift upcase update update! update_all update_attribute update_attributes
    update_column url user valid? value values where with wrap write year years zero? zip"""
)

RUST = _words(
    """all and any append as_bytes as_mut as_path as_ref as_slice as_str borrow bytes chain chars clear clone cloned
    cmp collect concat contains contains_key copied count default deref display drain drop end entry enumerate eq err
    exists expect extend filter filter_map find finish first flat_map flatten flush fmt fold for_each from get get_mut
    get_or_insert hash index insert into into_inner into_iter is_empty is_err is_none is_ok is_some iter iter_mut join
    key keys kind last len lines lock map map_err max min name new next nth ok ok_or or or_else parse path peek pop pos
    position push push_str read recv remove replace reset resize rev run send sleep sort spawn split start starts_with
    status sum swap take text then to_owned to_path_buf to_str to_string trim try_from try_into unwrap unwrap_or
    unwrap_or_default unwrap_or_else value values wait with_capacity write write_all zip"""
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
    minby maxby orelsethrow orelse unwrap expect one scalarone findone
    computeifabsent computeifpresent getordefault putifabsent getvalueordefault getoradd"""
)
"""Methods of a collection that return one of its items. In small letters, without `Async`."""

GIVE_PERHAPS_AN_ITEM = _words("findfirst findany reduce")
"""Methods of a collection that return one of its items in an `Optional`."""

GIVE_ONE_OF = _words(
    """resolve resolvenamed resolvekeyed resolveoptional getservice getrequiredservice getkeyedservice
    getrequiredkeyedservice getinstance getserviceorcreateinstance createinstance getexportedvalue get deserialize
    deserializeobject getfromjson readfromjson"""
)
"""Methods that give an instance of their only type argument, such as those of a container or a serializer."""

GIVE_SEVERAL_OF = _words(
    "resolveall getservices getkeyedservices getallinstances getexportedvalues getall oftype cast set query"
)
"""Methods that give a collection of their only type argument."""

GIVE_THE_SAME = _words(
    """where filter orderby orderbydescending thenby include theninclude asqueryable asnotracking asenumerable skip take
    tolist toarray distinct reverse slice concat sorted stream iter order limit offset copy await configureawait"""
)
"""Methods of a collection that return a collection of the same items."""
