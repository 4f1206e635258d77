"""Mapper files of MyBatis."""

from collections.abc import Callable, Mapping
from pathlib import Path

from groundwire_ingest.records import SourceEdge, SourceNode
from groundwire_ingest.tree.source import TreeSource

TreeMaker = Callable[[Mapping[str, str | bytes]], Path]

MAPPER = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE mapper PUBLIC "-//mybatis.org//DTD Mapper 3.0//EN" "http://mybatis.org/dtd/mybatis-3-mapper.dtd">
<mapper namespace="com.shop.UserMapper">
  <resultMap id="user" type="User"><id property="id" column="ID"/></resultMap>
  <select id="findById" resultMap="user">
    SELECT * FROM account WHERE id = #{id}
    <if test="name != null"> AND name = #{name} </if>
  </select>
  <select id="older">SELECT id FROM account <where><if test="a > 1">age <![CDATA[ < ]]> #{a}</if></where></select>
  <update id="rename">UPDATE account <set> <if test="name != null">name = #{name},</if> </set> WHERE id = #{id}</update>
  <insert id="log">INSERT INTO ${schema}.audit_log (id) VALUES (#{id})</insert>
</mapper>
"""
INTERFACE = """\
package com.shop;

public interface UserMapper {
    User findById(int id, String name);

    void rename(int id, String name);
}
"""


def test_statements_belong_to_methods_and_read_and_write_tables(make_tree: TreeMaker) -> None:
    root = make_tree(
        {
            "schema.sql": "CREATE TABLE account (id int);\nCREATE TABLE audit_log (id int);\n",
            "src/UserMapper.xml": MAPPER,
            "src/com/shop/UserMapper.java": INTERFACE,
        }
    )
    edges = {
        (edge.from_key.partition("#")[2], edge.edge_type, edge.to_key.rpartition("#")[2], edge.confidence)
        for edge in TreeSource(root).read()
        if isinstance(edge, SourceEdge) and edge.edge_type not in ("Contains", "Tests")
    }
    assert edges == {
        ("com.shop.UserMapper.findById", "ImplementedBy", "findById", 0.9),
        ("findById", "Implements", "com.shop.UserMapper.findById", 0.9),
        ("com.shop.UserMapper.rename", "ImplementedBy", "rename", 0.9),
        ("rename", "Implements", "com.shop.UserMapper.rename", 0.9),
        ("findById", "ReadsFrom", "sql::account|TABLE", 0.9),
        ("older", "ReadsFrom", "sql::account|TABLE", 0.9),
        ("rename", "WritesTo", "sql::account|TABLE", 0.9),
        ("log", "WritesTo", "sql::audit_log|TABLE", 0.9),
    }


def test_characters_by_their_numbers_are_not_read(make_tree: TreeMaker) -> None:
    """One of 5,000 digits, cut out of a comment that ends on the line of a statement."""
    mapper = f"""<mapper namespace="com.shop.UserMapper">
<!--
&#{"9" * 5_000}; --><select id="findById">SELECT * FROM account WHERE a &lt; &quot;b&quot;</select>
</mapper>"""
    root = make_tree({"schema.sql": "CREATE TABLE account (id int);\n", "src/UserMapper.xml": mapper})
    keys = {record.key for record in TreeSource(root).read() if isinstance(record, SourceNode)}
    assert any(key.endswith("UserMapper.xml#findById") for key in keys), keys
